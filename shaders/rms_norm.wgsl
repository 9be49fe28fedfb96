// Rows scaled by the root of their mean square, then by a weight if there is one.
//#if rows
// In four-value groups: the first $held of each invocation stay in registers, so short rows are read once.
//#include rows
//#port x vec4<f32>
//#port weight vec4<f32>
//#port out vec4<f32>
fn scaled(v: vec4<f32>, k: u32) -> vec4<f32> {
//#if has_weight
  return v * $weight[p.weight.offset / 16u + k];
//#else
  return v;
//#end
}
fn whole(s: Share) {
  let x = quad(p.x, s.row);
  let out = quad(p.out, s.row);
  var held: array<vec4<f32>, $held>;
  var square = 0.0;
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) {
      held[j] = $x[x + k];
      square += dot(held[j], held[j]);
    }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) { square += dot($x[x + k], $x[x + k]); }
  let factor = inverseSqrt(row_sum(square, s) / f32(p.out.shape.x) + p.eps);
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) { $out[out + k] = scaled(held[j] * factor, k); }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) { $out[out + k] = scaled($x[x + k] * factor, k); }
}
//#else
// Any type and layout, one workgroup a row.
//#include grid
//#include reduce
//#port x any
//#port weight any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.out.shape.x, row < rows(p.out.shape));
  var sum = 0.0;
  for (var k = lane; k < width; k += 256u) {
    let v = x_at(i + vec4<u32>(k, 0u, 0u, 0u));
    sum += v * v;
  }
  let factor = inverseSqrt(group_sum(sum, lane) / f32(p.out.shape.x) + p.eps);
  // In place: an invocation writes only what it alone reads.
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    var v = x_at(at) * factor;
//#if has_weight
    v *= weight_at(vec4<u32>(k, 0u, 0u, 0u));
//#end
    out_put(at, v);
  }
}
//#end
