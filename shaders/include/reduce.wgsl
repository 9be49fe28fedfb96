// Sums and maxima over a workgroup of 256, the same on every device: a tree in workgroup memory.
//#include numbers
var<workgroup> partial: array<f32, 256>;
// The larger of two; NaN wins, whatever a driver's `max` does with it.
fn larger(a: f32, b: f32) -> f32 { return select(a, b, b > a || is_nan(b)); }
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
    if (lane < step) { partial[lane] = larger(partial[lane], partial[lane + step]); }
    workgroupBarrier();
  }
  return partial[0];
}
