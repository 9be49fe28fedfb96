// A layer's output added to residual streams by shares, and each stream scaled by the root of its mean square and a weight.
// `x` may lie on a result's bytes: an invocation reads an item of it before it writes there, and no other reads it.
//#include functions
//#port shares any
//#if rows
//#include rows
// In four-value groups.
//#port x vec4<f32>
//#port y vec4<f32>
//#port weight vec4<f32>
//#port sum vec4<f32>
//#port out vec4<f32>
fn whole(s: Share) {
  let x = quad(p.x, s.row);
  let y = quad(p.y, s.row);
  let sum = quad(p.sum, s.row);
  let out = quad(p.out, s.row);
  let weight = (p.weight.offset + s.row.y * p.weight.stride.y) / 16u;
  var share = 0.0;
  if (s.quads > 0u) { share = p.gain * sigmoid(shares_at(vec4<u32>(0u, s.row.yzw))); }
  var square = 0.0;
  for (var k = s.lane; k < s.quads; k += $lanes) {
    let v = $x[x + k] + share * $y[y + k];
    $sum[sum + k] = v;
    square += dot(v, v);
  }
  let factor = p.factor * inverseSqrt(row_sum(square, s) / f32(p.out.shape.x) + p.eps);
  // Each invocation reads what itself wrote.
  for (var k = s.lane; k < s.quads; k += $lanes) { $out[out + k] = $sum[sum + k] * factor * $weight[weight + k]; }
}
//#else
// Any layout, one workgroup a row.
//#include grid
//#include reduce
//#port x any
//#port y any
//#port weight any
//#port sum any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.out.shape.x, row < rows(p.out.shape));
  var share = 0.0;
  if (width > 0u) { share = p.gain * sigmoid(shares_at(i)); }
  var square = 0.0;
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    let v = x_at(at) + share * y_at(at);
    sum_put(at, v);
    square += v * v;
  }
  let factor = p.factor * inverseSqrt(group_sum(square, lane) / f32(p.out.shape.x) + p.eps);
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    out_put(at, sum_at(at) * factor * weight_at(vec4<u32>(k, i.y, 0u, 0u)));
  }
}
//#end
