// Rows scaled by the root of their mean square, then by a weight if there is one. One workgroup a row.
//#include grid
//#include reduce
//#port x any
//#port weight any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  // The same for the whole workgroup, so no barrier is missed.
  let inside = row < rows(p.out.shape);
  let i = unflat_row(min(row, rows(p.out.shape) - 1u), p.out.shape);
  let width = p.out.shape.x;
  var sum = 0.0;
  for (var k = lane; k < width; k += 256u) {
    let v = x_at(i + vec4<u32>(k, 0u, 0u, 0u));
    sum += v * v;
  }
  let factor = inverseSqrt(group_sum(sum, lane) / f32(width) + p.eps);
  if (inside) {
    for (var k = lane; k < width; k += 256u) {
      let at = i + vec4<u32>(k, 0u, 0u, 0u);
      var v = x_at(at) * factor;
//#if has_weight
      v *= weight_at(vec4<u32>(k, 0u, 0u, 0u));
//#end
      out_put(at, v);
    }
  }
}
