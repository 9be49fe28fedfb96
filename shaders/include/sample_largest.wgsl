@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.y;
  let end = width(row);
  var most = 0u;
  var at = NONE;
  for (var k = 0u; k < 4u; k++) {
    let i = group.x * PIECE + k * 256u + lane;
    if (i < end) {
      let own = key(logits_at(vec4<u32>(i, row, 0u, 0u)));
      if (own > most) {
        most = own;
        at = i;
      }
    }
  }
  let best = group_best(most, at, lane);
  if (lane == 0u) {
    let to = base(row) + 4u + 5u * group.x;
    $scratch[to] = best.x;
    $scratch[to + 1u] = best.y;
  }
}
