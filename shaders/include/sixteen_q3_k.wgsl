fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let low = (@_b8(block, 96u + g % 8u) >> (g / 8u * 4u)) & 15u;
  let high = (@_b8(block, 104u + g % 4u) >> (g / 4u * 2u)) & 3u;
  let thirds = (@_b128(block, g % 2u * 16u) >> vec4<u32>(g / 2u)) & vec4<u32>(0x01010101u);
  let levels = pairs_of(@_b128(block, 32u + pairs_at(g)), g / 2u % 4u) | (thirds << vec4<u32>(2u));
  return stepped(less(levels, 4u), half_value(@_b16(block, 108u)) * (f32(low | (high << 4u)) - 32.0));
}
