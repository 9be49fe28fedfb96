fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  return stepped(all_numbered(IQ4_LEVELS, @_b128(block, 2u) >> vec4<u32>(4u * g)), half_value(@_b16(block, 0u)));
}
