// A norm per head, rotary embedding, and the heads of a token side by side in a row written at a given index. An index of -1
// drops its row; of two rows for one place the later wins. One workgroup a head. Blocks may span heads: then the values
// go to scratch memory, and a second launch encodes them, a workgroup a token.
//#include grid
const LANES: u32 = 64u;
//#if !form=encode
//#include norm_rope_head
//#end
//#if !prepare
fn head_width() -> u32 { return p.x.shape.x; }
fn head_tokens() -> u32 { return p.x.shape.z; }
//#if !form=turn
//#include row_place
//#end
//#if form=words
//#port out u32
//#include halves
var<workgroup> head: array<f32, $most>;
fn out_put(i: vec4<u32>, v: f32) { head[i.x] = v; }
//#if blocks
fn value_of(k: u32) -> f32 { return head[k]; }
//#include put_words
//#end
//#end
//#if form=values
//#port out any
//#end
//#if form=turn
//#shared f32
fn out_put(i: vec4<u32>, v: f32) { $shared[p.home + i.y * p.out.shape.x + i.x] = v; }
//#end
//#if form=encode
//#shared f32
//#port out any
//#end
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups);
//#if form=encode
  let token = min(n, p.x.shape.z - 1u);
  let place = place_of(vec4<u32>(0u, token, 0u, 0u), p.x.shape.z, lane);
  if (n != token || place >= p.out.shape.y) { return; }
  for (var k = lane; k < p.out.shape.x / 32u; k += LANES) {
    var values: array<f32, 32>;
    for (var j = 0u; j < 32u; j++) { values[j] = $shared[p.home + token * p.out.shape.x + k * 32u + j]; }
    out_put_block(vec4<u32>(k, place, 0u, 0u), &values);
  }
//#else
  let row = min(n, rows(p.x.shape) - 1u);
  let i = unflat_row(row, p.x.shape);
  let column = i.y * p.x.shape.x;
  let factor = norm_factor(i, lane);
//#if form=turn
  if (n == row) { put_head(i, vec4<u32>(column, i.z, 0u, 0u), factor, lane); }
//#end
//#if form=values
  let place = place_of(vec4<u32>(0u, i.z, 0u, 0u), p.x.shape.z, lane);
  if (n == row && place < p.out.shape.y) { put_head(i, vec4<u32>(column, place, 0u, 0u), factor, lane); }
//#end
//#if form=words
  put_head(i, vec4<u32>(), factor, lane);
  // Has barriers, so that the whole head is seen.
  let place = place_of(vec4<u32>(0u, i.z, 0u, 0u), p.x.shape.z, lane);
  let result = (p.out.offset + place * p.out.stride.y) / 4u;
//#if blocks
  let first = column / 32u * BLOCK_BYTES / 4u;
  put_row(result + first, p.x.shape.x / 32u, n == row && place < p.out.shape.y, lane);
//#else
  if (n != row || place >= p.out.shape.y) { return; }
//#if out_type=F16
  for (var k = lane; k < p.x.shape.x / 2u; k += LANES) {
    $out[result + column / 2u + k] = half_pair(head[2u * k], head[2u * k + 1u]);
  }
//#else
  for (var k = lane; k < p.x.shape.x; k += LANES) { $out[result + column + k] = bitcast<u32>(head[k]); }
//#end
//#end
//#end
//#end
}
//#end
