// Sums over teams of LANES invocations that share a column: within subgroups where there are any, else in workgroup memory.
const LANES: u32 = $lanes;
//#if subgroups
fn team_sum(v: vec4<f32>, at: u32) -> vec4<f32> {
  var sum = v;
  for (var mask = 1u; mask < LANES; mask *= 2u) { sum += subgroupShuffleXor(sum, mask); }
  return sum;
}
//#else
var<workgroup> team_parts: array<vec4<f32>, 128>;
fn team_sum(v: vec4<f32>, at: u32) -> vec4<f32> {
  workgroupBarrier();
  team_parts[at] = v;
  workgroupBarrier();
  var sum = vec4<f32>(0.0);
  for (var i = 0u; i < LANES; i++) { sum += team_parts[at / LANES * LANES + i]; }
  return sum;
}
//#end
