// Rows of four-value groups shared by invocations: $lanes of a workgroup's $size serve one row, each with every $lanes-th
// group. `main` calls `whole(share)` of the kernel, in uniform control flow.
//#include grid
struct Share {
  // Indices of the row, and its number of groups: 0 where there is no such row.
  row: vec4<u32>,
  quads: u32,
  // This invocation's place in the row and in the workgroup.
  lane: u32,
  own: u32,
  // This subgroup, all subgroups; this invocation's place in its own, and the width of that.
  wave: u32,
  waves: u32,
  wave_lane: u32,
  wave_size: u32,
}
fn share_of(row: u32, shape: vec4<u32>, own: u32) -> Share {
  let quads = select(0u, shape.x / 4u, row < rows(shape));
  return Share(unflat_row(row, shape), quads, own % $lanes, own, 0u, 1u, 0u, 1u);
}
// The first group of a row.
fn quad(t: Tensor, i: vec4<u32>) -> u32 {
  return (t.offset + i.y * t.stride.y + i.z * t.stride.z + i.w * t.stride.w) / 16u;
}
// The larger of two; NaN wins, whatever a driver's `max` does with it.
fn larger(a: f32, b: f32) -> f32 { return select(a, b, b > a || ((bitcast<u32>(b) & 0x7fffffffu) > 0x7f800000u)); }
//#if shuffle
fn row_sum(v: f32, s: Share) -> f32 {
  var sum = v;
  for (var mask = 1u; mask < $lanes; mask *= 2u) { sum += subgroupShuffleXor(sum, mask); }
  return sum;
}
fn row_max(v: f32, s: Share) -> f32 {
  var most = v;
  for (var mask = 1u; mask < $lanes; mask *= 2u) { most = larger(most, subgroupShuffleXor(most, mask)); }
  return most;
}
//#else
var<workgroup> partial: array<f32, $size>;
//#if subgroups
// Each subgroup sums its own, then all of them sum the sums: no second barrier is needed.
fn row_sum(v: f32, s: Share) -> f32 {
  let part = subgroupAdd(v);
  // An earlier reduction has been read by all.
  workgroupBarrier();
  if (s.wave_lane == 0u) { partial[s.wave] = part; }
  workgroupBarrier();
  var sum = 0.0;
  for (var k = s.wave_lane; k < s.waves; k += s.wave_size) { sum += partial[k]; }
  return subgroupAdd(sum);
}
fn row_max(v: f32, s: Share) -> f32 {
  // `subgroupMax` need not keep a NaN; any of them stands for all.
  let nan = bitcast<f32>(0x7fc00000u | s.own);
  let part = select(subgroupMax(v), nan, subgroupAny((bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u));
  workgroupBarrier();
  if (s.wave_lane == 0u) { partial[s.wave] = part; }
  workgroupBarrier();
  var most = partial[0];
  for (var k = 1u; k < s.waves; k++) { most = larger(most, partial[k]); }
  return most;
}
//#else
fn row_sum(v: f32, s: Share) -> f32 {
  workgroupBarrier();
  partial[s.own] = v;
  workgroupBarrier();
  for (var step = $lanes / 2u; step > 0u; step >>= 1u) {
    if (s.lane < step) { partial[s.own] += partial[s.own + step]; }
    workgroupBarrier();
  }
  return partial[s.own - s.lane];
}
fn row_max(v: f32, s: Share) -> f32 {
  workgroupBarrier();
  partial[s.own] = v;
  workgroupBarrier();
  for (var step = $lanes / 2u; step > 0u; step >>= 1u) {
    if (s.lane < step) { partial[s.own] = larger(partial[s.own], partial[s.own + step]); }
    workgroupBarrier();
  }
  return partial[s.own - s.lane];
}
//#end
//#end
//#if subgroups
@compute @workgroup_size($size)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(subgroup_id) wave: u32, @builtin(num_subgroups) waves: u32,
        @builtin(subgroup_invocation_id) wave_lane: u32, @builtin(subgroup_size) wave_size: u32) {
  // Places follow the subgroups: an invocation's index in the workgroup says nothing about its subgroup.
  let own = wave * wave_size + wave_lane;
  var share = share_of(flat(group, groups) * ($size / $lanes) + own / $lanes, p.out.shape, own);
  share.wave = wave;
  share.waves = waves;
  share.wave_lane = wave_lane;
  share.wave_size = wave_size;
  whole(share);
}
//#else
@compute @workgroup_size($size)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) own: u32) {
  whole(share_of(flat(group, groups) * ($size / $lanes) + own / $lanes, p.out.shape, own));
}
//#end
