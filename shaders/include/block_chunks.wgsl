// What a chunk of a token's list of cells leaves: a sum for each column, then the largest score and the sum of weights.
//#scratch f32
// Entries of a chunk.
const SPAN = 64u;
fn sums_at(row: vec4<u32>, chunk: u32) -> u32 {
  return ((row.z * p.out.shape.y + row.y) * p.chunks + chunk) * (p.out.shape.x + 2u);
}
