fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let low = @_b16(block, 2u + 2u * g);
  let rest = @_b16(block, 34u + g / 2u * 2u);
  let high = rest >> (g % 2u * 6u);
  let levels = iq1_levels(codeword(CODEBOOK_IQ1 + ((low & 255u) | ((high & 7u) << 8u))), rest >> 15u,
                          codeword(CODEBOOK_IQ1 + ((low >> 8u) | (((high >> 3u) & 7u) << 8u))), rest >> 15u);
  return stepped(levels, odd_step(@_b16(block, 0u), (rest >> 12u) & 7u, 0.125));
}
