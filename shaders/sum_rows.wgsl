// The sum of each row. One workgroup a row.
//#include grid
//#include reduce
//#port x any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  // The same for the whole workgroup, so no barrier is missed.
  let inside = row < rows(p.out.shape);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.x.shape.x, inside);
  var sum = 0.0;
  for (var k = lane; k < width; k += 256u) { sum += x_at(i + vec4<u32>(k, 0u, 0u, 0u)); }
  sum = group_sum(sum, lane);
  if (inside && lane == 0u) { out_put(i, sum); }
}
