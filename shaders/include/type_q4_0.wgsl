fn @_value(block: vec2<u32>, i: u32) -> f32 {
  let byte = @_b8(block, 2u + (i & 15u));
  return (f32((byte >> (4u * (i >> 4u))) & 15u) - 8.0) * half_value(@_b16(block, 0u));
}
