// Few columns of f32: weights are read once for all of them. A team of threads computes $rows rows.
//#include grid
//#port x vec4<f32>
//#port out f32
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
//#include dot_rows weight
@compute @workgroup_size($lanes * $teams)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
//#if subgroups
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) width: u32, @builtin(subgroup_invocation_id) spot: u32) {
  let thread = Thread(wave * width + spot, wave, spot);
//#else
        @builtin(local_invocation_index) number: u32) {
  let thread = Thread(number);
  let width = 1u;
//#end
  let t = thread.number;
  let rows = p.out.shape.x;
  let columns = p.out.shape.y;
  let first = flat(group, groups) * $teams * $rows;
  // Rows and columns behind the last are computed as that one and not stored.
  var at: array<u32, $columns>;
  for (var c = 0u; c < $columns; c++) { at[c] = (p.x.offset + min(c, columns - 1u) * p.x.stride.y) / 16u; }
  let units = p.x.shape.x / (4u * $weight_quads * weight_runs);
  add_up(weight_dot_rows(first + t / $lanes * $rows, rows - 1u, 0u, at, units, t % $lanes), thread, width);
  if (t < $teams * $columns) {
    let c = t % $columns;
    let team = t / $columns;
    let sum = team_sum(c, team, width);
    let row = first + team * $rows;
    let out = (p.out.offset + c * p.out.stride.y) / 4u + row;
    for (var r = 0u; r < min($rows, 4u); r++) {
      if (c < columns && row + r < rows) { $out[out + r] = sum.a[r]; }
    }
//#if rows8
    for (var r = 0u; r < 4u; r++) {
      if (c < columns && row + 4u + r < rows) { $out[out + 4u + r] = sum.b[r]; }
    }
//#end
  }
}
