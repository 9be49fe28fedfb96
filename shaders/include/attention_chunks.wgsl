// How visible cells are cut into chunks, and where a chunk's sums lie. The number of chunks is fixed, their size is not.
//#include attention_softmax
//#include attention_place
//#if !direct
//#scratch vec4<f32>
//#end
const WIDTH = $width;
// Columns of a result in words of 16 bytes; one more holds the largest score and the sum of weights.
const QUADS = WIDTH / 4u;
//#if !direct
fn span_of(visible: u32) -> u32 {
  let each = (visible + p.chunks - 1u) / p.chunks;
  return max((each + 63u) / 64u, 1u) * 64u;
}
fn sums_at(row: u32, head: u32, chunk: u32) -> u32 {
  return ((row * p.q.shape.z + head) * p.chunks + chunk) * (QUADS + 1u);
}
//#end
