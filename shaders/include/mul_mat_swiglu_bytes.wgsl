// act(gate * x) * (up * x) for a column of f32, rounded to 16 bits a value. A subgroup computes the same rows of both weights.
//#include grid
//#include functions
//#port x vec4<f32>
//#port out f32
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
fn x_column(c: u32) -> u32 { return p.x.offset / 16u; }
//#include dot_bytes gate
//#include dot_bytes up
@compute @workgroup_size($threads)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) width: u32, @builtin(subgroup_invocation_id) spot: u32) {
  let rows = p.out.shape.x;
  let values = p.x.shape.x;
  let row = (flat(group, groups) * ($threads / width) + wave) * $rows;
  let gate_rows = gate_rows_at(row, rows - 1u, 0u);
  let up_rows = up_rows_at(row, rows - 1u, 0u);
  var gates: Sums;
  var ups: Sums;
  for (var begin = 0u; begin < values; begin += $piece) {
    let end = min(begin + $piece, values);
    if (begin > 0u) { workgroupBarrier(); }
    prepare(begin / 4u, (end - begin) / 4u, wave * width + spot);
    workgroupBarrier();
    let of_gate = first_unit(gate_units(begin), spot, width);
    gates = gate_with_piece(gate_rows, gates, of_gate, gate_units(end), begin / 16u, width);
    let of_up = first_unit(up_units(begin), spot, width);
    ups = up_with_piece(up_rows, ups, of_up, up_units(end), begin / 16u, width);
  }
  let gate = added_up(gates, width);
  let up = added_up(ups, width);
  if (spot == 0u) {
    let out = p.out.offset / 4u + row;
//#repeat r rows
    if (row + %ru < rows) { $out[out + %ru] = opening(p.kind, gate.c0r%r) * up.c0r%r; }
//#end
  }
}
