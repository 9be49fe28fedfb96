// The sum of each row. One workgroup a row. What each addition rounds away is summed beside it: rows may cancel, and
// then little but rounding would be left.
//#include grid
//#include numbers
//#port x any
//#port out any
// Sums (x) and what they lack (y).
var<workgroup> partial: array<vec2<f32>, 256>;
fn plus(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  // The spare word is zero, which compilers cannot know: they would turn (a + b) - a into b.
  let sum = bitcast<f32>(bitcast<u32>(a.x + b.x) ^ p.x.spare);
  let z = bitcast<f32>(bitcast<u32>(sum - a.x) ^ p.x.spare);
  return vec2<f32>(sum, a.y + b.y + ((a.x - (sum - z)) + (b.x - z)));
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let inside = row < rows(p.out.shape);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.x.shape.x, inside);
  var sum = vec2<f32>(0.0);
  for (var k = lane; k < width; k += 256u) { sum = plus(sum, vec2<f32>(x_at(i + vec4<u32>(k, 0u, 0u, 0u)), 0.0)); }
  partial[lane] = sum;
  workgroupBarrier();
  for (var step = 128u; step > 0u; step >>= 1u) {
    if (lane < step) { partial[lane] = plus(partial[lane], partial[lane + step]); }
    workgroupBarrier();
  }
  // An infinite sum lacks nothing, though the differences above are NaN.
  let all = partial[0];
  if (inside && lane == 0u) { out_put(i, all.x + select(all.y, 0.0, is_nan(all.y))); }
}
