// Which slot of the cache a row of queries reads, and how much of it.
//#if has_segments
//#include gdn_segments
// How many cells a token of a segment sees, by its number in the segment.
fn cells_of(before: u32, number: u32) -> u32 {
  // A position beyond the cache must not wrap around.
  return select(p.k.shape.y, min(before + number + 1u, p.k.shape.y), before < p.k.shape.y);
}
fn position_of(s: u32) -> u32 { return segment_word(s, 3u); }
// The largest number of cells that a token sees.
fn longest() -> u32 {
  var most = 0u;
  for (var s = 0u; s < p.segments.shape.y; s++) {
    let a = segment(s);
    if (a.count > 0u && segment_holds(a, p.q.shape.y, p.k.shape.w, false)) {
      most = max(most, cells_of(position_of(s), a.count - 1u));
    }
  }
  return most;
}
var<workgroup> place: vec2<u32>;
// The slot (x) and the number of visible cells plus one (y, 0 if no segment holds the row), the same for all lanes.
fn find_place(row: u32, lane: u32, lanes: u32, reports: bool) -> vec2<u32> {
  if (lane == 0u) { place = vec2<u32>(0u, 0u); }
  workgroupBarrier();
  for (var s = lane; s < p.segments.shape.y; s += lanes) {
    let a = segment(s);
    if (segment_holds(a, p.q.shape.y, p.k.shape.w, reports) && row >= a.row && row - a.row < a.count) {
      place = vec2<u32>(a.slot, 1u + cells_of(position_of(s), row - a.row));
    }
  }
  return workgroupUniformLoad(&place);
}
//#end
