fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  // Bit n of four becomes bit 1 of byte n.
  let four = (vec4<u32>(@_b16(block, 2u + 2u * g)) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u);
  return stepped(less((four * 0x00408102u) & vec4<u32>(0x02020202u), 1u), half_value(@_b16(block, 0u)));
}
