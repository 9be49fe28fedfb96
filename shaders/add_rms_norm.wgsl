// A residual sum, and the sum scaled by the root of its mean square and a weight.
//#if rows
// In four-value groups: the first $held sums of each invocation stay in registers, so short rows are read once. `a` and
// `b` may lie on the results' bytes: an invocation reads its own groups of both before it writes there, and no others.
//#include rows
//#port a vec4<f32>
//#port b vec4<f32>
//#port weight vec4<f32>
//#port sum vec4<f32>
//#port out vec4<f32>
fn whole(s: Share) {
  let a = quad(p.a, s.row);
  let b = quad(p.b, s.row);
  let sum = quad(p.sum, s.row);
  let out = quad(p.out, s.row);
  let weight = p.weight.offset / 16u;
  var held: array<vec4<f32>, $held>;
  var square = 0.0;
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) {
      let v = $a[a + k] + $b[b + k];
      $sum[sum + k] = v;
      held[j] = v;
      square += dot(v, v);
    }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) {
    let v = $a[a + k] + $b[b + k];
    $sum[sum + k] = v;
    square += dot(v, v);
  }
  let factor = inverseSqrt(row_sum(square, s) / f32(p.out.shape.x) + p.eps);
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) { $out[out + k] = held[j] * factor * $weight[weight + k]; }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) {
    $out[out + k] = $sum[sum + k] * factor * $weight[weight + k];
  }
}
//#else
// Any layout, one workgroup a row.
//#include grid
//#include reduce
//#port a any
//#port b any
//#port weight any
//#port sum any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.out.shape.x, row < rows(p.out.shape));
  var square = 0.0;
  // In place: an invocation reads an element of both before it writes there, and no other invocation reads it.
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    let v = a_at(at) + b_at(at);
    sum_put(at, v);
    square += v * v;
  }
  let factor = inverseSqrt(group_sum(square, lane) / f32(p.out.shape.x) + p.eps);
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    out_put(at, sum_at(at) * factor * weight_at(vec4<u32>(k, 0u, 0u, 0u)));
  }
}
//#end
