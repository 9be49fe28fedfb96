// Which slot of the cache a row of queries reads, and how much of it.
//#if has_segments
//#include gdn_segments
var<workgroup> place: vec2<u32>;
// The slot (x) and the number of visible cells plus one (y, 0 if no segment holds the row), the same for all lanes.
fn find_place(row: u32, lane: u32, lanes: u32, reports: bool) -> vec2<u32> {
  if (lane == 0u) { place = vec2<u32>(0u, 0u); }
  workgroupBarrier();
  for (var s = lane; s < p.segments.shape.y; s += lanes) {
    let a = segment(s);
    if (segment_holds(a, p.q.shape.y, p.k.shape.w, reports) && row >= a.row && row - a.row < a.count) {
      let before = segment_word(s, 3u);
      let cells = p.k.shape.y;
      // A position beyond the cache must not wrap around.
      place = vec2<u32>(a.slot, 1u + select(cells, min(before + (row - a.row) + 1u, cells), before < cells));
    }
  }
  return workgroupUniformLoad(&place);
}
//#end
