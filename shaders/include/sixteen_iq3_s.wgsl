fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let high = vec4<u32>(@_b8(block, 66u + g / 2u)) >> (vec4<u32>(0u, 1u, 2u, 3u) + vec4<u32>(g % 2u * 4u));
  let numbers = bytes_of(@_b32(block, 2u + 4u * g)) | ((high & vec4<u32>(1u)) << vec4<u32>(8u));
  let at = numbers + vec4<u32>(CODEBOOK_IQ3_S);
  let levels = spread_nibbles(vec4<u32>(codeword(at.x), codeword(at.y), codeword(at.z), codeword(at.w))) * 2u + vec4<u32>(0x01010101u);
  let signs = vec4<u32>(@_b16(block, 74u + 2u * g)) >> vec4<u32>(0u, 4u, 8u, 12u);
  return stepped(with_signs(levels, signs), odd_step(@_b16(block, 0u), (@_b8(block, 106u + g / 4u) >> (g / 2u % 2u * 4u)) & 15u, 1.0));
}
