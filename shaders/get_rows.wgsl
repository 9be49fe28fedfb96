// Rows of a table, chosen by index.
//#include grid
//#port table any
//#port rows any
//#fault
//#if vectors
// A workgroup a row, four elements a step of an invocation.
//#port out vec4<f32>
//#include decode
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  if (row >= rows(p.out.shape)) { return; }
  let i = unflat_row(row, p.out.shape);
  let place = place_of(i, lane == 0u);
  if (place >= p.table.shape.y) { return; }
  let result = (p.out.offset + dot(i.yzw, p.out.stride.yzw)) / 16u;
  for (var k = lane; k < p.out.shape.x / 4u; k += 64u) {
    $out[result + k] = table_four(vec4<u32>(4u * k, place, i.zw));
  }
}
//#else
//#include convert
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  let place = place_of(i, i.x == 0u);
  if (place >= p.table.shape.y) { return; }
  let source = vec4<u32>(i.x, place, i.zw);
//#if out_type=I32
//#if table_type=I32
  out_put_int(i, table_int(source));
//#else
  out_put_int(i, int_of(table_at(source)));
//#end
//#else
//#if table_type=I32
  out_put(i, float_of(table_int(source)));
//#else
  out_put(i, table_at(source));
//#end
//#end
}
//#end
// The row of the table for a row of the result; too large where another launch has it, or where there is none.
fn place_of(i: vec4<u32>, reports: bool) -> u32 {
  let index = rows_int(vec4<u32>(i.yzw, 0u));
  if (index >= 0 && u32(index) < p.extent) { return u32(index) - p.first; }
  if (reports) { fault($rows_port, index, p.extent); }
  return 0xffffffffu;
}
