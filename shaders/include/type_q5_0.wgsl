fn @_value(block: vec2<u32>, i: u32) -> f32 {
  let byte = @_b8(block, 6u + (i & 15u));
  let fifth = (@_b8(block, 2u + (i >> 3u)) >> (i & 7u)) & 1u;
  return (f32(((byte >> (4u * (i >> 4u))) & 15u) | (fifth << 4u)) - 16.0) * half_value(@_b16(block, 0u));
}
