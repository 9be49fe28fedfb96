// Indices of the k largest values of each row, largest first, ties to the lower index.
//
// A workgroup finds the k best of a list without ordering them, digit by digit of a number that no two elements share:
// value first, then the complement of the index. Long rows are cut into chunks, whose best make one list again. Last,
// each of the k counts those before it.
//#include grid
//#include order
//#port x any
//#scratch u32
// An empty place of a list.
const NOTHING: u32 = 0xffffffffu;
fn row_of(number: u32) -> vec4<u32> { return unflat_row(number, p.x.shape); }
fn rank_of(row: vec4<u32>, index: u32) -> vec2<u32> {
  return vec2<u32>(order_key(x_at(vec4<u32>(index, row.yzw))), ~index);
}
fn above(a: vec2<u32>, b: vec2<u32>) -> bool { return a.x > b.x || (a.x == b.x && a.y > b.y); }
//#if order
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= rows(p.x.shape) * p.k) { return; }
  let row = row_of(n / p.k);
  let start = p.source + n / p.k * p.k;
  let index = $scratch[p.source + n];
  let own = rank_of(row, index);
  var before = 0u;
  for (var j = 0u; j < p.k; j++) { before += select(0u, 1u, above(rank_of(row, $scratch[start + j]), own)); }
  out_put_int(vec4<u32>(before, row.yzw), i32(index));
}
//#else
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> sums: array<u32, 256>;
// The digit in which the last one wanted lies, how many are wanted of it, and how many have it.
var<workgroup> chosen: vec3<u32>;
var<workgroup> taken: atomic<u32>;
fn digit_of(rank: vec2<u32>, d: u32) -> u32 {
  return (select(rank.y, rank.x, d < 4u) >> (24u - 8u * (d & 3u))) & 255u;
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  // Workgroups beyond the last list do its work again, elsewhere: nobody may miss a barrier.
  let last = rows(p.x.shape) * p.chunks - 1u;
  let list = min(flat(group, groups), last);
  let row = row_of(list / p.chunks);
  let begin = list % p.chunks * p.chunk;
//#if listed
  let length = p.chunk;
  let list_start = p.source + list * p.chunk;
  var wanted = p.k;
//#else
  let length = min(p.chunk, p.x.shape.x - begin);
  var wanted = min(p.k, length);
//#end
  var found = vec2<u32>();
  var known = vec2<u32>();
  for (var d = 0u; d < 8u; d++) {
    atomicStore(&counts[lane], 0u);
    workgroupBarrier();
    for (var j = lane; j < length; j += 256u) {
//#if listed
      let index = $scratch[list_start + j];
      if (index == NOTHING) { continue; }
//#else
      let index = begin + j;
//#end
      let rank = rank_of(row, index);
      if (all((rank & known) == found)) { atomicAdd(&counts[digit_of(rank, d)], 1u); }
    }
    workgroupBarrier();
    // How many have this digit or a larger one.
    let own = atomicLoad(&counts[lane]);
    var sum = own;
    sums[lane] = sum;
    for (var step = 1u; step < 256u; step *= 2u) {
      workgroupBarrier();
      if (lane + step < 256u) { sum += sums[lane + step]; }
      workgroupBarrier();
      sums[lane] = sum;
    }
    if (sum >= wanted && sum - own < wanted) { chosen = vec3<u32>(lane, wanted - (sum - own), own); }
    let choice = workgroupUniformLoad(&chosen);
    let shift = 24u - 8u * (d & 3u);
    if (d < 4u) {
      found.x |= choice.x << shift;
      known.x |= 255u << shift;
    } else {
      found.y |= choice.x << shift;
      known.y |= 255u << shift;
    }
    wanted = choice.y;
    // All with this digit are wanted: the others need not be known.
    if (choice.y == choice.z) { break; }
  }
  if (lane == 0u) { atomicStore(&taken, 0u); }
  workgroupBarrier();
  let result_start = p.result + list * p.k;
  let writes = flat(group, groups) <= last;
  for (var j = lane; j < length; j += 256u) {
//#if listed
    let index = $scratch[list_start + j];
    if (index == NOTHING) { continue; }
//#else
    let index = begin + j;
//#end
    if (writes && !above(found, rank_of(row, index))) { $scratch[result_start + atomicAdd(&taken, 1u)] = index; }
  }
  workgroupBarrier();
  if (writes) {
    for (var j = atomicLoad(&taken) + lane; j < p.k; j += 256u) { $scratch[result_start + j] = NOTHING; }
  }
}
//#end
