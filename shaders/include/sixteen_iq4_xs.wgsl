fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let group = g / 2u;
  let low = (@_b32(block, 4u) >> (4u * group)) & 15u;
  let high = (@_b16(block, 2u) >> (2u * group)) & 3u;
  let levels = all_numbered(IQ4_LEVELS, @_b128(block, 8u + 16u * group) >> vec4<u32>(4u * (g % 2u)));
  return stepped(levels, half_value(@_b16(block, 0u)) * (f32(low | (high << 4u)) - 32.0));
}
