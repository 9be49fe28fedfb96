fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let numbers = @_b32(block, 2u + g / 2u * 8u) >> (g % 2u * 16u);
  let rest = @_b32(block, 6u + g / 2u * 8u);
  let signs = rest >> (g % 2u * 14u);
  let levels = iq2_levels(codeword(CODEBOOK_IQ2_XXS + (numbers & 255u)), even_signs(signs),
                          codeword(CODEBOOK_IQ2_XXS + ((numbers >> 8u) & 255u)), even_signs(signs >> 7u));
  return stepped(levels, odd_step(@_b16(block, 0u), rest >> 28u, 0.125));
}
