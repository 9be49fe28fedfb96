// Quantised weights piece by piece, for products that need every value of a row once. A unit is what 16 bytes of levels
// hold: RUNS runs of 4 * QUADS consecutive values each. A value is scale * level - least, both of its run.
// The including text defines, for its weight(s), `which` among them:
//   w_quad(which, a) 16 bytes at a multiple of 16, w_word(which, a) four bytes at a multiple of 4, w_half(which, a) two bytes at
//   a multiple of 2, where a is an address in its binding. Unless the flag `wide` is set, addresses have no alignment.
// A row of weights: address, first block and blocks of the whole row where it is repacked.
struct Row { at: u32, first: u32, blocks: u32, which: u32 }
fn plane(bytes: u32) -> u32 { return (bytes + 15u) & ~15u; }
// Faster than `unpack4xU8`, which naga makes a bitcast to a vector of bytes.
fn bytes4(word: u32) -> vec4<f32> {
  return vec4<f32>(vec4<u32>(word & 255u, extractBits(word, 8u, 8u), extractBits(word, 16u, 8u), word >> 24u));
}
//#if weight_type=F32
//#include weights_f32
//#end
//#if weight_type=F16
//#include weights_f16
//#end
//#if weight_type=BF16
//#include weights_bf16
//#end
//#if weight_type=Q8_0
//#include weights_q8_0
//#end
//#if weight_type=Q4_0
//#include weights_q4
//#end
//#if weight_type=Q4_1
//#include weights_q4
//#end
//#if weight_type=Q5_0
//#include weights_q5
//#end
//#if weight_type=Q5_1
//#include weights_q5
//#end
//#if weight_type=Q4_K
//#include weights_q4_k
//#end
//#if weight_type=Q5_K
//#include weights_q4_k
//#end
//#if weight_type=Q6_K
//#include weights_q6_k
//#end
