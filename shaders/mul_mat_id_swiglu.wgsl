// silu(gate * x) * (up * x), with a pair of matrices chosen for each column. One column at a time, of few: a team of threads
// computes $rows rows of both.
//#include functions
//#port x vec4<f32>
//#port ids any
//#port out f32
//#fault
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
//#include dot_rows gate
//#include dot_rows up
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
  if (id < 0 || u32(id) >= p.gate.shape.z) {
    if (t == 0u && group.x == 0u) { fault($ids_port, id, p.gate.shape.z); }
    return;
  }
  let expert = u32(id);
  let rows = p.out.shape.x;
  let first = group.x * $teams * $rows;
  let own = first + t / $lanes * $rows;
  let lane = t % $lanes;
  let at = array<u32, 1u>((p.x.offset + slot % p.x.shape.y * p.x.stride.y + token * p.x.stride.z) / 16u);
  let gates = gate_dot_rows(own, rows - 1u, expert, at, p.x.shape.x / (4u * $gate_quads * gate_runs), lane);
  let ups = up_dot_rows(own, rows - 1u, expert, at, p.x.shape.x / (4u * $up_quads * up_runs), lane);
  var opened: Sums;
  add_up(gates, thread, width);
  if (t < $teams) { opened = team_sum(0u, t, width); }
  // The sums of the one product are read before those of the other are added up.
  workgroupBarrier();
  add_up(ups, thread, width);
  if (t < $teams) {
    let sum = team_sum(0u, t, width);
    let row = first + t * $rows;
    let out = (p.out.offset + slot * p.out.stride.y + token * p.out.stride.z) / 4u + row;
    for (var r = 0u; r < min($rows, 4u); r++) {
      if (row + r < rows) { $out[out + r] = opening(0u, opened.a[r]) * sum.a[r]; }
    }
//#if rows8
    for (var r = 0u; r < 4u; r++) {
      if (row + 4u + r < rows) { $out[out + 4u + r] = opening(0u, opened.b[r]) * sum.b[r]; }
    }
//#end
  }
}
