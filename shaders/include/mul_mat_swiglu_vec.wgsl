// act(gate * x) * (up * x) for few columns of f32. A team of threads computes the same rows of both weights.
//#include grid
//#include functions
//#port x vec4<f32>
//#port out f32
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
//#include dot_rows gate
//#include dot_rows up
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
  let lane = t % $lanes;
  let rows = p.out.shape.x;
  let columns = p.out.shape.y;
  let first = flat(group, groups) * $teams * $rows;
  let own = first + t / $lanes * $rows;
  var at: array<u32, $columns>;
  for (var c = 0u; c < $columns; c++) { at[c] = (p.x.offset + min(c, columns - 1u) * p.x.stride.y) / 16u; }
  let gates = gate_dot_rows(own, rows - 1u, 0u, at, p.x.shape.x / (4u * $gate_quads * gate_runs), lane);
  let ups = up_dot_rows(own, rows - 1u, 0u, at, p.x.shape.x / (4u * $up_quads * up_runs), lane);
  let c = t % $columns;
  let team = t / $columns;
  let stores = t < $teams * $columns;
  var opened: Sums;
  add_up(gates, thread, width);
  if (stores) { opened = team_sum(c, team, width); }
  workgroupBarrier();
  add_up(ups, thread, width);
  if (stores && c < columns) {
    let sum = team_sum(c, team, width);
    let row = first + team * $rows;
    let out = (p.out.offset + c * p.out.stride.y) / 4u + row;
    for (var r = 0u; r < min($rows, 4u); r++) {
      if (row + r < rows) { $out[out + r] = opening(p.kind, opened.a[r]) * sum.a[r]; }
    }
//#if rows8
    for (var r = 0u; r < 4u; r++) {
      if (row + 4u + r < rows) { $out[out + 4u + r] = opening(p.kind, opened.b[r]) * sum.b[r]; }
    }
//#end
  }
}
