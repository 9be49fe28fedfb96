fn @_b128(block: vec2<u32>, k: u32) -> vec4<u32> {
  return vec4<u32>(@_b32(block, k), @_b32(block, k + 4u), @_b32(block, k + 8u), @_b32(block, k + 12u));
}
fn @_value(block: vec2<u32>, i: u32) -> f32 {
  let s = @_sixteen(block, i >> 4u);
  let half = select(s.levels.xy, s.levels.zw, (i & 8u) != 0u);
  let level = (select(half.x, half.y, (i & 4u) != 0u) >> (8u * (i & 3u))) & 255u;
  return s.line.x * signed_byte(level) - s.line.y;
}
