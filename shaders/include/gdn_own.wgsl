// A segment for a whole workgroup of 128, known to be uniform. Every entry of the table is looked at, side by side.
struct Own { slot: u32, row: u32, count: u32, plane: u32, fresh: bool }
//#if has_segments
//#include gdn_segments
var<workgroup> wrong: atomic<u32>;
var<workgroup> own_words: vec4<u32>;
// Entry s; without tokens if any entry is outside. One workgroup reports that.
fn own_segment(s: u32, rows: u32, slots: u32, lane: u32, reports: bool) -> Own {
  if (lane == 0u) { atomicStore(&wrong, 0u); }
  workgroupBarrier();
  for (var e = lane; e < p.segments.shape.y; e += 128u) {
    let a = segment(e);
    if (!segment_holds(a, rows, slots, reports)) { atomicStore(&wrong, 1u); }
    if (e == s) {
      own_words = vec4<u32>(a.slot, a.row, a.count, min(a.plane, 0x3fffffffu) * 2u + u32(a.fresh));
    }
  }
  workgroupBarrier();
  if (lane == 0u && atomicLoad(&wrong) == 1u) { own_words = vec4<u32>(0u); }
  let words = workgroupUniformLoad(&own_words);
  return Own(words.x, words.y, words.z, words.w / 2u, (words.w & 1u) == 1u);
}
// Entry s before all are looked at: enough to begin to read its state, which lies inside the pool in any case.
fn guessed_segment(s: u32, slots: u32) -> Own {
  let a = segment(s);
  return Own(min(a.slot, max(slots, 1u) - 1u), a.row, a.count, min(a.plane, p.snapshots - 1u), a.fresh);
}
//#end
// Tokens of a chunk.
const CHUNK: u32 = 32u;
// How many of a segment's first tokens pass in chunks: none of a short one, and not the last, if they leave snapshots.
fn chunked(count: u32) -> u32 {
//#if chunks
  let rest = count - select(min(p.snapshots, count), 0u, p.snapshots == 1u);
  return select(rest, 0u, rest <= 8u);
//#else
  return 0u;
//#end
}
