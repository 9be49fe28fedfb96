// A norm per head, then pairs of dimensions turned by the token's position. One workgroup a head.
//#include grid
//#include rope_angles
//#if !prepare
//#if rows
//#port x f32
//#port weight f32
//#port out f32
fn x_at(i: vec4<u32>) -> f32 { return $x[(p.x.offset + dot(i.yzw, p.x.stride.yzw)) / 4u + i.x]; }
fn weight_at(i: vec4<u32>) -> f32 { return $weight[p.weight.offset / 4u + i.x]; }
fn out_put(i: vec4<u32>, v: f32) { $out[(p.out.offset + dot(i.yzw, p.out.stride.yzw)) / 4u + i.x] = v; }
//#else
//#port x any
//#port weight any
//#port out any
//#end
const LANES: u32 = 64u;
var<workgroup> sums: array<f32, LANES>;
fn normed(i: vec4<u32>, factor: f32) -> f32 { return x_at(i) * (factor * weight_at(vec4<u32>(i.x, 0u, 0u, 0u))); }
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(min(row, rows(p.x.shape) - 1u), p.x.shape);
  var sum = 0.0;
  for (var k = lane; k < p.x.shape.x; k += LANES) {
    let v = x_at(vec4<u32>(k, i.yzw));
    sum += v * v;
  }
  sums[lane] = sum;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step >>= 1u) {
    if (lane < step) { sums[lane] += sums[lane + step]; }
    workgroupBarrier();
  }
  if (row >= rows(p.x.shape)) { return; }
  let factor = inverseSqrt(sums[0] / f32(p.x.shape.x) + p.eps);
  for (var k = lane; k < p.pairs + p.rest; k += LANES) {
    if (k >= p.pairs) {
      let at = vec4<u32>(k + p.pairs, i.yzw);
      out_put(at, normed(at, factor));
      continue;
    }
    let pair = pair_of(k);
    let a = vec4<u32>(pair.x, i.yzw);
    let b = vec4<u32>(pair.y, i.yzw);
    let turn = rotation(k, i.z);
    let u = normed(a, factor);
    let v = normed(b, factor);
    out_put(a, u * turn.x - v * turn.y);
    out_put(b, u * turn.y + v * turn.x);
  }
}
//#end
