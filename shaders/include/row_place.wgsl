// Where rows written at given indices go, found by a workgroup of LANES for one of them.
//#port rows any
//#fault
const NOWHERE: u32 = 0xffffffffu;
var<workgroup> hidden: atomic<u32>;
fn index_at(i: vec4<u32>) -> i32 {
  return rows_int(vec4<u32>(i.y, i.z % p.rows.shape.y, i.w % p.rows.shape.z, 0u));
}
// The place of row i among those that this launch sees; outside of them where the row is dropped, or where one of the
// later rows, up to `count`, goes to the same place.
fn place_of(i: vec4<u32>, count: u32, lane: u32) -> u32 {
  let index = index_at(i);
  if (lane == 0u) { atomicStore(&hidden, 0u); }
  workgroupBarrier();
  for (var t = i.y + 1u + lane; t < count; t += LANES) {
    if (index_at(vec4<u32>(0u, t, i.zw)) == index) { atomicStore(&hidden, 1u); }
  }
  workgroupBarrier();
  if (index == -1 || atomicLoad(&hidden) != 0u) { return NOWHERE; }
  if (index < 0 || u32(index) >= p.extent) {
    if (lane == 0u) { fault($rows_port, index, p.extent); }
    return NOWHERE;
  }
  // This launch may see a part of the rows alone.
  return u32(index) - p.first;
}
