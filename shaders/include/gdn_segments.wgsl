// The table of segments: which rows of the ubatch belong to which sequence. One launch of a dispatch reports a wrong one.
//#port segments any
//#if !silent
//#fault
//#end
struct Segment { slot: u32, row: u32, count: u32, fresh: bool, plane: u32 }
fn segment_word(s: u32, word: u32) -> u32 { return bitcast<u32>(segments_int(vec4<u32>(word, s, 0u, 0u))); }
fn segment(s: u32) -> Segment {
  return Segment(segment_word(s, 0u), segment_word(s, 1u), segment_word(s, 2u), segment_word(s, 4u) != 0u,
                 segment_word(s, 5u));
}
// How far from the end of a history of so many inputs the one lies that is `steps` (from 1) before a segment's first token; 0 if
// there is none. A segment that starts `plane` back passes over as many of the newest.
fn history_back(fresh: bool, plane: u32, steps: u32, reach: u32) -> u32 {
  let back = steps + plane;
  return select(back, 0u, fresh || plane >= reach || back > reach);
}
// The n-th place of a history to be stored anew, in an order in which none is overwritten before it is read.
fn tail_place(count: u32, plane: u32, n: u32, reach: u32) -> u32 { return select(reach - 1u - n, n, count >= plane); }
// Whether a segment stays inside the ubatch and the pool; one invocation reports if it does not.
fn segment_holds(a: Segment, rows: u32, slots: u32, reports: bool) -> bool {
  if (a.count == 0u) { return true; }
  if (a.count > rows || a.row > rows - a.count) {
    // An end beyond 31 bits is as far outside as any.
//#if !silent
    let end = select(a.row + a.count, 0x7fffffffu, a.row > 0x3fffffffu || a.count > 0x3fffffffu);
    if (reports) { fault($segments_port, bitcast<i32>(end), rows); }
//#end
    return false;
  }
  if (a.slot >= slots) {
//#if !silent
    if (reports) { fault($segments_port, bitcast<i32>(a.slot), slots); }
//#end
    return false;
  }
  return true;
}
fn segments_hold(rows: u32, slots: u32, reports: bool) -> bool {
  for (var s = 0u; s < p.segments.shape.y; s++) {
    if (!segment_holds(segment(s), rows, slots, reports)) { return false; }
  }
  return true;
}
// The segment of a row; without tokens if there is none.
fn segment_of(row: u32) -> Segment {
  for (var s = 0u; s < p.segments.shape.y; s++) {
    let a = segment(s);
    if (row >= a.row && row - a.row < a.count) { return a; }
  }
  return Segment(0u, 0u, 0u, false, 0u);
}
