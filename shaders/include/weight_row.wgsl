// A row of weights: its address, its first block and the blocks of the whole row where it is repacked.
struct Row { at: u32, first: u32, blocks: u32 }
fn plane(bytes: u32) -> u32 { return (bytes + 15u) & ~15u; }
// Faster than `unpack4xU8`, which naga makes a bitcast to a vector of bytes.
fn bytes4(word: u32) -> vec4<f32> {
  return vec4<f32>(vec4<u32>(word & 255u, extractBits(word, 8u, 8u), extractBits(word, 16u, 8u), word >> 24u));
}
fn signed_bytes4(word: u32) -> vec4<f32> {
  let w = bitcast<i32>(word);
  return vec4<f32>(vec4<i32>(extractBits(w, 0u, 8u), extractBits(w, 8u, 8u), extractBits(w, 16u, 8u), w >> 24u));
}
