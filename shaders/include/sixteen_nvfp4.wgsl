fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  // Half of a scale; the code of NaN is a zero.
  let code = @_b8(block, g) & 127u;
  let normal = bitcast<f32>((code << 20u) + (119u << 23u));
  let half = select(normal, f32(code) / 1024.0, code < 8u);
  let words = vec2<u32>(@_b32(block, 4u + 8u * g), @_b32(block, 8u + 8u * g));
  return stepped(all_numbered(FP4_LEVELS, vec4<u32>(words, words >> vec2<u32>(4u))), select(half, 0.0, code == 127u));
}
