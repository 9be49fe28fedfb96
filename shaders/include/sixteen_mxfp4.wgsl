fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let e = @_b8(block, 0u);
  // 2^(e - 128); the two smallest are subnormal.
  let step = bitcast<f32>(select((e - 1u) << 23u, 0x200000u << (e & 1u), e < 2u));
  return stepped(all_numbered(FP4_LEVELS, @_b128(block, 1u) >> vec4<u32>(4u * g)), step);
}
