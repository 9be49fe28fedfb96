fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let low = @_b16(block, 2u * g);
  let rest = @_b8(block, 32u + g);
  // The scale has four bits on top of each sixteen.
  let s = @_b32(block, 48u);
  let t = @_b32(block, 52u);
  let d = ((s >> 12u) & 15u) | ((s >> 28u) << 4u) | (((t >> 12u) & 15u) << 8u) | ((t >> 28u) << 12u);
  let own = (select(t, s, g < 8u) >> (g / 4u % 2u * 16u + g % 4u * 3u)) & 7u;
  let levels = iq1_levels(codeword(CODEBOOK_IQ1 + ((low & 255u) | ((rest & 7u) << 8u))), (rest >> 3u) & 1u,
                          codeword(CODEBOOK_IQ1 + ((low >> 8u) | (((rest >> 4u) & 7u) << 8u))), rest >> 7u);
  return stepped(levels, odd_step(d, own, 0.125));
}
