fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let at = bytes_of(@_b32(block, 2u + 4u * g)) + vec4<u32>(CODEBOOK_IQ3_XXS);
  let rest = @_b32(block, 66u + g / 2u * 4u);
  let signs = rest >> (g % 2u * 14u);
  let one = even_signs(signs);
  let other = even_signs(signs >> 7u);
  // Levels 4, 12 and so on; the eighth is 62.
  let numbers = spread_nibbles(vec4<u32>(codeword(at.x), codeword(at.y), codeword(at.z), codeword(at.w)));
  let last = (numbers & (numbers >> vec4<u32>(1u)) & (numbers >> vec4<u32>(2u))) & vec4<u32>(0x01010101u);
  let levels = numbers * 8u + vec4<u32>(0x04040404u) + last * 2u;
  return stepped(with_signs(levels, vec4<u32>(one, one >> 4u, other, other >> 4u)), odd_step(@_b16(block, 0u), rest >> 28u, 0.25));
}
