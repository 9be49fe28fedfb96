fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  return stepped(less(pairs_of(@_b128(block, pairs_at(g)), g / 2u % 4u), 1u), half_value(@_b16(block, 64u)));
}
