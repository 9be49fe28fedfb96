fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let two = @_b32(block, 2u + 4u * g);
  let levels = iq2_levels(codeword(CODEBOOK_IQ2_XS + (two & 511u)), even_signs(two >> 9u),
                          codeword(CODEBOOK_IQ2_XS + ((two >> 16u) & 511u)), even_signs(two >> 25u));
  return stepped(levels, odd_step(@_b16(block, 0u), (@_b8(block, 66u + g / 2u) >> (g % 2u * 4u)) & 15u, 0.125));
}
