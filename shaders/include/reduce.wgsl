// Sums over a workgroup of 256, the same on every device: a tree in workgroup memory.
var<workgroup> partial: array<f32, 256>;
fn group_sum(v: f32, lane: u32) -> f32 {
  workgroupBarrier();
  partial[lane] = v;
  workgroupBarrier();
  for (var step = 128u; step > 0u; step >>= 1u) {
    if (lane < step) { partial[lane] += partial[lane + step]; }
    workgroupBarrier();
  }
  return partial[0];
}
fn group_max(v: f32, lane: u32) -> f32 {
  workgroupBarrier();
  partial[lane] = v;
  workgroupBarrier();
  for (var step = 128u; step > 0u; step >>= 1u) {
    if (lane < step) { partial[lane] = max(partial[lane], partial[lane + step]); }
    workgroupBarrier();
  }
  return partial[0];
}
