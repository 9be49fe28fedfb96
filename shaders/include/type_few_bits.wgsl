fn @_value(block: vec2<u32>, i: u32) -> f32 {
  let s = @_sixteen(block, i >> 4u);
  let half = select(s.levels.xy, s.levels.zw, (i & 8u) != 0u);
  let level = (select(half.x, half.y, (i & 4u) != 0u) >> (8u * (i & 3u))) & 255u;
  return s.line.x * signed_byte(level) - s.line.y;
}
