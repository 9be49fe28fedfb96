fn @_value(block: vec2<u32>, i: u32) -> f32 {
  return signed_byte(@_b8(block, 2u + i)) * half_value(@_b16(block, 0u));
}
