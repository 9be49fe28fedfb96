// Means of rows of a cache, normed, turned, and written as rows of another at given indices. An index of -1 drops its mean; of
// two means for one place the later wins. One workgroup a mean, which lies in workgroup memory.
//#include grid
const LANES: u32 = 64u;
//#include norm_rope_head
//#if !prepare
fn head_width() -> u32 { return p.cache.shape.x; }
fn head_tokens() -> u32 { return p.cells.shape.y; }
//#port cache any
//#port cells any
//#port out any
//#include row_place
var<workgroup> mean: array<f32, $most>;
fn x_at(i: vec4<u32>) -> f32 { return mean[i.x]; }
// The row of the cache that is member j of mean t; the first where there is none.
fn member(j: u32, t: u32, reports: bool) -> u32 {
  let index = cells_int(vec4<u32>(j, t, 0u, 0u));
  if (index >= 0 && u32(index) < p.cache.shape.y) { return u32(index); }
  if (reports) { fault($cells_port, index, p.cache.shape.y); }
  return 0u;
}
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups);
  let t = min(n, head_tokens() - 1u);
  // A mean that is dropped has members all the same.
  if (lane == 0u) {
    for (var j = 0u; j < p.cells.shape.x; j++) { _ = member(j, t, true); }
  }
  let place = place_of(vec4<u32>(0u, t, 0u, 0u), head_tokens(), lane);
  let stores = n == t && place < p.out.shape.y;
  if (stores) {
    for (var k = lane; k < head_width(); k += LANES) {
      var sum = 0.0;
      for (var j = 0u; j < p.cells.shape.x; j++) { sum += cache_at(vec4<u32>(k, member(j, t, false), 0u, 0u)); }
      mean[k] = sum * p.scale;
    }
  }
  // Has barriers, so that the whole mean is seen.
  let factor = norm_factor(vec4<u32>(), lane);
  if (stores) { put_head(vec4<u32>(0u, 0u, t, 0u), vec4<u32>(0u, place, 0u, 0u), factor, lane); }
}
//#end
