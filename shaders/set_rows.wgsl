// Rows written at given indices, a workgroup a row. An index of -1 drops its row; of two rows for one place the later wins.
//#include grid
const LANES: u32 = $lanes;
//#include row_place
//#if in_words
//#port x f32
//#port out u32
//#if words_of_blocks
var<private> source: u32;
fn value_of(k: u32) -> f32 { return $x[source + k]; }
//#include put_words
//#else
//#include halves
//#end
//#else
//#port x any
//#port out any
//#end
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let count = rows(p.x.shape);
  let i = unflat_row(min(row, count - 1u), p.x.shape);
  let place = place_of(i, p.x.shape.y, lane);
//#if words_of_blocks
  source = (p.x.offset + dot(i.yzw, p.x.stride.yzw)) / 4u;
  let result = (p.out.offset + dot(vec3<u32>(place, i.zw), p.out.stride.yzw)) / 4u;
  put_row(result, p.x.shape.x / 32u, row < count && place < p.out.shape.y, lane);
//#else
  if (row >= count || place >= p.out.shape.y) { return; }
//#if rows_of_words
  let source = (p.x.offset + dot(i.yzw, p.x.stride.yzw)) / 4u;
  let result = (p.out.offset + dot(vec3<u32>(place, i.zw), p.out.stride.yzw)) / 4u;
//#if out_type=F16
  for (var k = lane; k < p.x.shape.x / 2u; k += LANES) {
    $out[result + k] = half_pair($x[source + 2u * k], $x[source + 2u * k + 1u]);
  }
//#else
  for (var k = lane; k < p.x.shape.x; k += LANES) { $out[result + k] = bitcast<u32>($x[source + k]); }
//#end
//#else
//#if blocks
  for (var k = lane; k < p.x.shape.x / 32u; k += LANES) {
    var values: array<f32, 32>;
    for (var j = 0u; j < 32u; j++) { values[j] = x_at(vec4<u32>(k * 32u + j, i.yzw)); }
    out_put_block(vec4<u32>(k, place, i.zw), &values);
  }
//#else
  for (var k = lane; k < p.x.shape.x; k += LANES) {
    out_put(vec4<u32>(k, place, i.zw), x_at(vec4<u32>(k, i.yzw)));
  }
//#end
//#end
//#end
}
