// The gated norm of rows of outputs, 32 lanes a row and four rows a workgroup; then, by further workgroups, the history's
// new tail: by now nobody reads the old one.
//#include grid
//#include functions
//#include gdn_own
//#port x f32
//#port history f32
//#port z f32
//#port weight f32
//#port out f32
//#scratch f32
const DIM: u32 = $dim;
var<workgroup> chosen: array<atomic<u32>, 4>;
var<workgroup> squares: array<f32, 128>;
fn slots() -> u32 { return min(p.history.shape.z, p.state.shape.w / p.snapshots); }
fn norm(first: u32, lane: u32) {
  let line = lane / 32u;
  let part = lane % 32u;
  let row = min(first + line, p.out.shape.y * p.out.shape.z - 1u);
  let head = row % p.out.shape.y;
  let t = row / p.out.shape.y;
  if (part == 0u) { atomicStore(&chosen[line], 0u); }
  if (lane == 0u) { atomicStore(&wrong, 0u); }
  workgroupBarrier();
  for (var e = part; e < p.segments.shape.y; e += 32u) {
    let a = segment(e);
    if (!segment_holds(a, p.x.shape.y, slots(), first == 0u)) { atomicStore(&wrong, 1u); }
    if (t >= a.row && t - a.row < a.count) { atomicStore(&chosen[line], 1u); }
  }
  let start = ((p.o_block + head) * p.x.shape.y + t) * DIM;
  var o: array<f32, DIM / 32u>;
  var sum = 0.0;
  for (var i = 0u; i < DIM / 32u; i++) {
    o[i] = $scratch[start + part + 32u * i];
    sum += o[i] * o[i];
  }
  squares[lane] = sum;
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < 32u; i++) { total += squares[line * 32u + i]; }
  let factor = inverseSqrt(total / f32(DIM) + p.eps);
  if (first + line > row || atomicLoad(&chosen[line]) == 0u || atomicLoad(&wrong) == 1u) { return; }
  let z = (p.z.offset + head * p.z.stride.y + t * p.z.stride.z) / 4u;
  let out = (p.out.offset + head * p.out.stride.y + t * p.out.stride.z) / 4u;
  for (var i = 0u; i < DIM / 32u; i++) {
    let j = part + 32u * i;
    $out[out + j] = o[i] * factor * $weight[p.weight.offset / 4u + j] * opening(p.act, $z[z + j]);
  }
}
fn tail(n: u32, lane: u32) {
  let channels = p.x.shape.x;
  let blocks = (channels + 127u) / 128u;
  let own = own_segment(min(n / blocks, p.segments.shape.y - 1u), p.x.shape.y, slots(), lane, false);
  let c = (n % blocks) * 128u + lane;
  if (own.count == 0u || c >= channels || n / blocks >= p.segments.shape.y) { return; }
  let reach = p.history.shape.x;
  let base = (p.history.offset + own.slot * p.history.stride.z + c * p.history.stride.y) / 4u;
  let last = (p.x.offset + (own.row + own.count - 1u) * p.x.stride.y) / 4u + c;
  for (var k = 0u; k < reach; k++) {
    let t = tail_place(own.count, own.plane, k, reach);
    let steps = reach - 1u - t;
    var value = 0.0;
    if (steps < own.count) {
      value = $x[last - steps * (p.x.stride.y / 4u)];
    } else {
      let back = history_back(own.fresh, own.plane, steps - own.count + 1u, reach);
      if (back > 0u) { value = $history[base + reach - back]; }
    }
    $history[base + t] = value;
  }
}
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups);
  let norms = (p.out.shape.y * p.out.shape.z + 3u) / 4u;
  if (n < norms) { norm(n * 4u, lane); } else { tail(n - norms, lane); }
}
