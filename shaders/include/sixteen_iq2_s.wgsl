fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let low = @_b16(block, 2u + 2u * g);
  let signs = @_b16(block, 34u + 2u * g);
  let high = @_b8(block, 66u + g / 2u) >> (g % 2u * 4u);
  let levels = iq2_levels(codeword(CODEBOOK_IQ2_S + ((low & 255u) | ((high & 3u) << 8u))), signs,
                          codeword(CODEBOOK_IQ2_S + ((low >> 8u) | (((high >> 2u) & 3u) << 8u))), signs >> 8u);
  return stepped(levels, odd_step(@_b16(block, 0u), (@_b8(block, 74u + g / 2u) >> (g % 2u * 4u)) & 15u, 0.125));
}
