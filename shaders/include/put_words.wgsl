// Rows of blocks written in whole words: an even number of blocks of 32 values, at a multiple of 4 bytes. Kernels say by
// `value_of` what a row holds. Bytes are those of put_q8_0 and put_q4_0.
//#include numbers
var<workgroup> scales: array<u32, LANES>;
var<workgroup> inverses: array<f32, LANES>;
// Keeps a product from being joined with a sum, which would round once instead of twice: `spare` is 0.
fn apart(v: f32) -> f32 { return bitcast<f32>(bitcast<u32>(v) ^ p.out.spare); }
//#if out_type=Q8_0
const BLOCK_BYTES = 34u;
fn find_scale(first: u32, block: u32) {
  var peak = 0.0;
  for (var j = 0u; j < 32u; j++) { peak = max(peak, abs(value_of(first + j))); }
  let bits = half_bits(min(over_127(peak), 65504.0));
  scales[block] = bits;
  inverses[block] = half_inverse(bits);
}
// Byte j behind the scale of the block whose values begin at `first`.
fn levels_byte(first: u32, inverse: f32, j: u32) -> u32 {
  return bitcast<u32>(i32(clamp(round_away(apart(value_of(first + j) * inverse)), -127.0, 127.0))) & 0xffu;
}
//#else
const BLOCK_BYTES = 18u;
fn find_scale(first: u32, block: u32) {
  var peak = 0.0;
  for (var j = 0u; j < 32u; j++) {
    let v = value_of(first + j);
    peak = select(peak, v, abs(v) > abs(peak));
  }
  let bits = half_bits(clamp(peak * -0.125, -65504.0, 65504.0));
  let size = half_inverse(bits & 0x7fffu);
  scales[block] = bits;
  inverses[block] = select(size, -size, (bits & 0x8000u) != 0u);
}
fn level(v: f32, inverse: f32) -> u32 { return u32(clamp(round_away(apart(v * inverse) + 8.0), 0.0, 15.0)); }
fn levels_byte(first: u32, inverse: f32, j: u32) -> u32 {
  return level(value_of(first + j), inverse) | (level(value_of(first + j + 16u), inverse) << 4u);
}
//#end
// Encodes blocks and stores them from a word on, if `writes`. Has barriers.
fn put_row(word: u32, blocks: u32, writes: bool, lane: u32) {
  for (var first = 0u; first < blocks; first += LANES) {
    let count = min(LANES, blocks - first);
    workgroupBarrier();
    if (lane < count) { find_scale((first + lane) * 32u, lane); }
    workgroupBarrier();
    for (var w = lane; w < count * BLOCK_BYTES / 4u; w += LANES) {
      var bits = 0u;
      for (var i = 0u; i < 4u; i++) {
        let block = (w * 4u + i) / BLOCK_BYTES;
        let j = (w * 4u + i) % BLOCK_BYTES;
        var byte = (scales[block] >> (j * 8u)) & 0xffu;
        if (j >= 2u) { byte = levels_byte((first + block) * 32u, inverses[block], j - 2u); }
        bits |= byte << (i * 8u);
      }
      if (writes) { $out[word + first * BLOCK_BYTES / 4u + w] = bits; }
    }
  }
}
