// Types of few bits: sixteen values of a block have one step. A value is line.x * level - line.y; levels are four bytes a word,
// signed but for Q2_K.
//#include numbers
struct Sixteen { levels: vec4<u32>, line: vec2<f32> }
fn stepped(levels: vec4<u32>, step: f32) -> Sixteen { return Sixteen(levels, vec2<f32>(step, 0.0)); }
// Takes a small number off each byte, which is below 128.
fn less(bytes: vec4<u32>, by: u32) -> vec4<u32> {
  return ((bytes | vec4<u32>(0x80808080u)) - vec4<u32>(by * 0x01010101u)) ^ vec4<u32>(0x80808080u);
}
// Four levels of two bits, each to a byte.
fn spread(bytes: vec4<u32>) -> vec4<u32> {
  let two = (bytes | (bytes << vec4<u32>(12u))) & vec4<u32>(0x000f000fu);
  return (two | (two << vec4<u32>(6u))) & vec4<u32>(0x03030303u);
}
// The four bytes of a word.
fn bytes_of(word: u32) -> vec4<u32> {
  return vec4<u32>(word & 255u, (word >> 8u) & 255u, (word >> 16u) & 255u, word >> 24u);
}
// Bits 2p and 2p + 1 of each byte.
fn pairs_of(words: vec4<u32>, p: u32) -> vec4<u32> { return (words >> vec4<u32>(2u * p)) & vec4<u32>(0x03030303u); }
// Where the g-th sixteen of Q2_K, Q3_K and TQ2_0 lies in their pairs of bits.
fn pairs_at(g: u32) -> u32 { return g / 8u * 32u + g % 2u * 16u; }
// Of sixteen levels, four words of them, those that nibbles number.
fn numbered(levels: vec4<u32>, nibbles: u32) -> u32 {
  var word = 0u;
  for (var i = 0u; i < 4u; i++) {
    let n = (nibbles >> (8u * i)) & 15u;
    let half = select(levels.xy, levels.zw, (n & 8u) != 0u);
    word |= ((select(half.x, half.y, (n & 4u) != 0u) >> (8u * (n & 3u))) & 255u) << (8u * i);
  }
  return word;
}
fn all_numbered(levels: vec4<u32>, words: vec4<u32>) -> vec4<u32> {
  return vec4<u32>(numbered(levels, words.x), numbered(levels, words.y), numbered(levels, words.z), numbered(levels, words.w));
}
const IQ4_LEVELS: vec4<u32> = vec4<u32>(0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u);
// Twice the levels.
const FP4_LEVELS: vec4<u32> = vec4<u32>(0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu);
// The digit of a number to the base 3 in each byte at this power of 3.
fn digits(bytes: vec4<u32>, power: vec4<u32>) -> vec4<u32> {
  let mask = vec4<u32>(0x00ff00ffu);
  let even = ((bytes & mask) * power) & mask;
  let odd = (((bytes >> vec4<u32>(8u)) & mask) * power) & mask;
  return (((even * 3u) >> vec4<u32>(8u)) & mask) | ((odd * 3u) & vec4<u32>(0xff00ff00u));
}
fn power_of_three(p: u32) -> u32 { return select(select(select(select(81u, 27u, p == 3u), 9u, p == 2u), 3u, p == 1u), 1u, p == 0u); }
