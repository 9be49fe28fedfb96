// One column at a time, of few: a team of threads computes $rows rows of the matrix chosen for it. All columns in one launch.
//#port x vec4<f32>
//#port ids any
//#port out f32
//#fault
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
//#include dot_rows weight
var<workgroup> shared_id: i32;
@compute @workgroup_size($lanes * $teams)
fn main(@builtin(workgroup_id) group: vec3<u32>,
//#if subgroups
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) width: u32, @builtin(subgroup_invocation_id) spot: u32) {
  let thread = Thread(wave * width + spot, wave, spot);
//#else
        @builtin(local_invocation_index) number: u32) {
  let thread = Thread(number);
  let width = 1u;
//#end
  let t = thread.number;
  let slot = group.y % p.ids.shape.x;
  let token = group.y / p.ids.shape.x;
  if (t == 0u) { shared_id = ids_int(vec4<u32>(slot, token, 0u, 0u)); }
  let id = workgroupUniformLoad(&shared_id);
  if (id < 0 || u32(id) >= p.experts) {
    if (t == 0u && group.x == 0u) { fault($ids_port, id, p.experts); }
    return;
  }
  // Wraps below the window to a large number.
  let expert = u32(id) - p.first;
  if (expert >= p.weight.shape.z) { return; }
  let rows = p.out.shape.x;
  let first = group.x * $teams * $rows;
  let column = (p.x.offset + slot % p.x.shape.y * p.x.stride.y + token * p.x.stride.z) / 16u;
  let units = p.x.shape.x / (4u * $weight_quads * weight_runs);
  let sums = weight_dot_rows(first + t / $lanes * $rows, rows - 1u, expert, array<u32, 1u>(column), units, t % $lanes);
  add_up(sums, thread, width);
  if (t < $teams) {
    let sum = team_sum(0u, t, width);
    let row = first + t * $rows;
    let out = (p.out.offset + slot * p.out.stride.y + token * p.out.stride.z) / 4u + row;
    for (var r = 0u; r < min($rows, 4u); r++) {
      if (row + r < rows) { $out[out + r] = sum.a[r]; }
    }
//#if rows8
    for (var r = 0u; r < 4u; r++) {
      if (row + 4u + r < rows) { $out[out + 4u + r] = sum.b[r]; }
    }
//#end
  }
}
