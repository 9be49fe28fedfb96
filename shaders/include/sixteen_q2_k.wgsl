fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let own = @_b8(block, g);
  let line = vec2<f32>(half_value(@_b16(block, 80u)) * f32(own & 15u), half_value(@_b16(block, 82u)) * f32(own >> 4u));
  return Sixteen(pairs_of(@_b128(block, 16u + pairs_at(g)), g / 2u % 4u), line);
}
