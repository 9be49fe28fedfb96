// A head's norm, and its values turned: LANES invocations a head. Kernels say by `out_put` where values go, and, where heads are
// pooled, by `x_at` where they are.
//#include rope_angles
//#if !prepare
//#if rows
//#if !pooled
//#port x f32
fn x_at(i: vec4<u32>) -> f32 { return $x[(p.x.offset + dot(i.yzw, p.x.stride.yzw)) / 4u + i.x]; }
//#end
//#port weight f32
fn weight_at(i: vec4<u32>) -> f32 { return $weight[p.weight.offset / 4u + i.x]; }
//#else
//#port x any
//#port weight any
//#end
var<workgroup> squares: array<f32, LANES>;
var<workgroup> few_squares: array<f32, 8>;
// The norm's factor of the head at i. In two steps and one order on all devices.
fn norm_factor(i: vec4<u32>, lane: u32) -> f32 {
  var sum = 0.0;
  for (var k = lane; k < head_width(); k += LANES) {
    let v = x_at(vec4<u32>(k, i.yzw));
    sum += v * v;
  }
  squares[lane] = sum;
  workgroupBarrier();
  if (lane < 8u) {
    for (var k = lane + 8u; k < LANES; k += 8u) { sum += squares[k]; }
    few_squares[lane] = sum;
  }
  workgroupBarrier();
  sum = few_squares[0];
  for (var k = 1u; k < 8u; k++) { sum += few_squares[k]; }
  return inverseSqrt(sum / f32(head_width()) + p.eps);
}
fn normed(i: vec4<u32>, factor: f32) -> f32 { return x_at(i) * (factor * weight_at(vec4<u32>(i.x, 0u, 0u, 0u))); }
// Puts the values of the head at i, those of this launch's pairs and other dimensions, from `first` on.
fn put_head(i: vec4<u32>, first: vec4<u32>, factor: f32, lane: u32) {
  for (var k = lane; k < p.pairs + p.rest; k += LANES) {
    if (k >= p.pairs) {
      let at = vec4<u32>(other_of(k), 0u, 0u, 0u);
      out_put(first + at, normed(i + at, factor));
      continue;
    }
    let pair = pair_of(k);
    let a = vec4<u32>(pair.x, 0u, 0u, 0u);
    let b = vec4<u32>(pair.y, 0u, 0u, 0u);
    let v = turned(vec2<f32>(normed(i + a, factor), normed(i + b, factor)), k, i.z);
    out_put(first + a, v.x);
    out_put(first + b, v.y);
  }
}
//#end
