// Up to four weights times the same few columns of f32. The workgroups of the first weight stand before those of the second.
//#include grid
//#port x vec4<f32>
//#port out0 f32
//#port out1 f32
//#port out2 f32
//#port out3 f32
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
//#include dot_rows w0
//#include dot_rows w1
//#if has_w2
//#include dot_rows w2
//#end
//#if has_w3
//#include dot_rows w3
//#end
fn groups_of(rows: u32) -> u32 { return (rows + $teams * $rows - 1u) / ($teams * $rows); }
fn units(quads: u32, runs: u32) -> u32 { return p.x.shape.x / (4u * quads * runs); }
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
  let columns = p.x.shape.y;
  var at: array<u32, $columns>;
  for (var c = 0u; c < $columns; c++) { at[c] = (p.x.offset + min(c, columns - 1u) * p.x.stride.y) / 16u; }
  let end0 = groups_of(p.out0.shape.x);
  let end1 = end0 + groups_of(p.out1.shape.x);
  var end2 = end1;
//#if has_w2
  end2 = end1 + groups_of(p.out2.shape.x);
//#end
  let n = flat(group, groups);
  // Which weight, the same for the whole workgroup, and the first of its rows here.
  let which = select(0u, 1u, n >= end0) + select(0u, 1u, n >= end1) + select(0u, 1u, n >= end2);
  let begin = select(select(select(0u, end0, which == 1u), end1, which == 2u), end2, which == 3u);
  let first = (n - begin) * $teams * $rows;
  let own = first + t / $lanes * $rows;
  var sums: AllSums;
  if (which == 0u) { sums = w0_dot_rows(own, p.out0.shape.x - 1u, 0u, at, units($w0_quads, w0_runs), lane); }
  if (which == 1u) { sums = w1_dot_rows(own, p.out1.shape.x - 1u, 0u, at, units($w1_quads, w1_runs), lane); }
//#if has_w2
  if (which == 2u) { sums = w2_dot_rows(own, p.out2.shape.x - 1u, 0u, at, units($w2_quads, w2_runs), lane); }
//#end
//#if has_w3
  if (which == 3u) { sums = w3_dot_rows(own, p.out3.shape.x - 1u, 0u, at, units($w3_quads, w3_runs), lane); }
//#end
  add_up(sums, thread, width);
  if (t < $teams * $columns) {
    let c = t % $columns;
    let team = t / $columns;
    let sum = team_sum(c, team, width);
    if (c < columns) { store(which, first + team * $rows, c, sum); }
  }
}
fn store(which: u32, row: u32, c: u32, sum: Sums) {
  for (var r = 0u; r < min($rows, 4u); r++) { store_one(which, row + r, c, sum.a[r]); }
//#if rows8
  for (var r = 0u; r < 4u; r++) { store_one(which, row + 4u + r, c, sum.b[r]); }
//#end
}
fn store_one(which: u32, row: u32, c: u32, v: f32) {
  if (which == 0u && row < p.out0.shape.x) { $out0[(p.out0.offset + c * p.out0.stride.y) / 4u + row] = v; }
  if (which == 1u && row < p.out1.shape.x) { $out1[(p.out1.offset + c * p.out1.stride.y) / 4u + row] = v; }
//#if has_w2
  if (which == 2u && row < p.out2.shape.x) { $out2[(p.out2.offset + c * p.out2.stride.y) / 4u + row] = v; }
//#end
//#if has_w3
  if (which == 3u && row < p.out3.shape.x) { $out3[(p.out3.offset + c * p.out3.stride.y) / 4u + row] = v; }
//#end
}
