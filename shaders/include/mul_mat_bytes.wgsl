// Few columns of f32, rounded to 16 bits a value: weights are read once for all of them. A subgroup computes $rows rows.
//#include grid
//#port x vec4<f32>
//#port out f32
fn x_quad(i: u32) -> vec4<f32> { return $x[i]; }
// Columns behind the last are computed as that one and not stored.
fn x_column(c: u32) -> u32 { return (p.x.offset + min(c, p.out.shape.y - 1u) * p.x.stride.y) / 16u; }
//#include dot_bytes weight
@compute @workgroup_size($threads)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) width: u32, @builtin(subgroup_invocation_id) spot: u32) {
  let rows = p.out.shape.x;
  let row = (flat(group, groups) * ($threads / width) + wave) * $rows;
  let sums = weight_dot_rows(row, rows - 1u, 0u, p.x.shape.x, spot, width, wave * width + spot);
  if (spot == 0u) {
    let out = p.out.offset / 4u + row;
    let pitch = p.out.stride.y / 4u;
//#repeat c columns
    if (%cu < p.out.shape.y) {
//#repeat r rows
      if (row + %ru < rows) { $out[out + %cu * pitch + %ru] = sums.c%cr%r; }
//#end
    }
//#end
  }
}
