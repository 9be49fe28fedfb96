// Where chunks of tokens lie, in the order of the table; and where the matrices of a chunk and head lie in scratch memory:
// what turns values into writes [32, 32], what turns writes into outputs [32, 32], and the sums of log decays [32].
//#include gdn_own
const MATRICES: u32 = 520u;
fn matrices(chunk: u32, head: u32) -> u32 { return p.matrices + (chunk * heads() + head) * MATRICES; }
fn chunks_of(e: u32) -> u32 { return (chunked(segment(e).count) + CHUNK - 1u) / CHUNK; }
fn key_of(head: u32) -> u32 { return select(head / (heads() / key_heads()), head % key_heads(), p.heads == 0u); }
var<workgroup> spot: vec2<u32>;
// The first row of a chunk and how many tokens it has; none of a chunk that does not exist.
fn chunk_place(chunk: u32, lane: u32) -> vec2<u32> {
  let own = own_segment(0u, token_rows(), slots(), lane, false);
  if (lane == 0u) {
    spot = vec2<u32>(0u);
    var rest = chunk;
    for (var e = 0u; e < p.segments.shape.y; e++) {
      let count = chunks_of(e);
      if (rest < count) {
        let a = segment(e);
        if (atomicLoad(&wrong) == 0u) {
          spot = vec2<u32>(a.row + rest * CHUNK, min(CHUNK, chunked(a.count) - rest * CHUNK));
        }
        break;
      }
      rest -= count;
    }
  }
  return workgroupUniformLoad(&spot);
}
