// Codewords of IQ1, IQ2 and IQ3. The tables lie behind each other, sixteen bits a codeword.
//#include few_bits
//#codebooks
fn codeword(at: u32) -> u32 { return ($codebooks[at >> 1u] >> (16u * (at & 1u))) & 0xffffu; }
// Four levels a word, above zero, negative where one of four bits is set.
fn with_signs(levels: vec4<u32>, signs: vec4<u32>) -> vec4<u32> {
  let bits = ((signs & vec4<u32>(15u)) * 0x00204081u) & vec4<u32>(0x01010101u);
  return (levels ^ (bits * 255u)) + bits;
}
// Seven signs; the eighth makes the number of negative levels even.
fn even_signs(bits: u32) -> u32 {
  let seven = bits & 127u;
  return seven | ((countOneBits(seven) & 1u) << 7u);
}
// Bytes of two codewords of eight levels.
fn codeword_bytes(one: u32, other: u32) -> vec4<u32> {
  return vec4<u32>(one & 255u, one >> 8u, other & 255u, other >> 8u);
}
// Two codewords of levels 8, 25 and 43 with eight signs each.
fn iq2_levels(one: u32, signs: u32, other: u32, other_signs: u32) -> vec4<u32> {
  let numbers = spread(codeword_bytes(one, other));
  let levels = numbers * 17u + ((numbers >> vec4<u32>(1u)) & vec4<u32>(0x01010101u)) + vec4<u32>(0x08080808u);
  return with_signs(levels, vec4<u32>(signs, signs >> 4u, other_signs, other_signs >> 4u));
}
// Four codewords of four level numbers, four bits each.
fn spread_nibbles(words: vec4<u32>) -> vec4<u32> {
  let two = (words | (words << vec4<u32>(8u))) & vec4<u32>(0x00ff00ffu);
  return (two | (two << vec4<u32>(4u))) & vec4<u32>(0x0f0f0f0fu);
}
// Two codewords of eight times -1, 0 and 1, plus one, or minus one where `down` is 1.
fn iq1_levels(one: u32, down: u32, other: u32, other_down: u32) -> vec4<u32> {
  let eights = spread(codeword_bytes(one, other)) * 8u;
  return vec4<u32>(less(eights, 7u + 2u * down).xy, less(eights, 7u + 2u * other_down).zw);
}
// An odd multiple of a half.
fn odd_step(half: u32, scale: u32, unit: f32) -> f32 { return half_value(half) * f32(2u * scale + 1u) * unit; }
