// Few columns of f32: weights are read once for all of them. A team of threads computes four rows.
//#include grid
//#include weights_of_port
//#port x vec4<f32>
//#port out f32
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
//#include dot_rows
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
//#if subgroups
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) width: u32, @builtin(subgroup_invocation_id) spot: u32) {
  let thread = Thread(wave, width, spot);
//#else
        @builtin(local_invocation_index) index: u32) {
  let thread = Thread(index);
//#end
  let t = thread_number(thread);
  let rows = p.out.shape.x;
  let columns = p.out.shape.y;
  let teams = 128u / $lanes;
  let first = flat(group, groups) * teams * 4u;
  let row = first + t / $lanes * 4u;
  // Rows and columns beyond the last are computed as that one and not stored.
  var at: array<u32, $columns>;
  for (var c = 0u; c < $columns; c++) { at[c] = (p.x.offset + min(c, columns - 1u) * p.x.stride.y) / 16u; }
  let last = rows - 1u;
  let sums = dot_rows(row_of(min(row, last), 0u, 0u), row_of(min(row + 1u, last), 0u, 0u),
                      row_of(min(row + 2u, last), 0u, 0u), row_of(min(row + 3u, last), 0u, 0u),
                      at, p.x.shape.x / (4u * RUNS * QUADS), t % $lanes);
  add_up(sums, thread);
  if (t < teams * $columns) {
    let c = t % $columns;
    let sum = team_sum(c, t / $columns, thread);
    let begin = first + t / $columns * 4u;
    for (var r = 0u; r < 4u; r++) {
      if (c < columns && begin + r < rows) {
        $out[(p.out.offset + c * p.out.stride.y) / 4u + begin + r] = sum[r];
      }
    }
  }
}
