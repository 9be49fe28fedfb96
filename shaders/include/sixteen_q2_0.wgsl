fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  return stepped(less(spread(bytes_of(@_b32(block, 2u + 4u * g))), 1u), half_value(@_b16(block, 0u)));
}
