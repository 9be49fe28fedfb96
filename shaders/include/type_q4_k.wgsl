fn @_value(block: vec2<u32>, i: u32) -> f32 {
  let byte = @_b8(block, 16u + (i >> 6u) * 32u + (i & 31u));
  let line = @_group(block, i >> 5u);
  return line.x * f32((byte >> (4u * ((i >> 5u) & 1u))) & 15u) - line.y;
}
