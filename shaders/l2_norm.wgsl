// Rows scaled to Euclidean length one: by 1 / max(length, eps), or by 1 / sqrt(length² + eps). One workgroup a row.
//#include grid
//#include reduce
//#port x any
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
  sum = group_sum(sum, lane);
  let length = sqrt(sum);
  // A comparison, not `max`: a length of NaN stays.
  let factor = select(inverseSqrt(sum + p.eps), 1.0 / select(length, p.eps, length < p.eps), p.form == 0u);
  // In place: an invocation writes only what it alone reads.
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    out_put(at, x_at(at) * factor);
  }
}
