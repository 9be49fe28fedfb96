//#include reduce
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.x;
  var most = vec2<u32>(0u, NONE);
  var best = vec2<u32>(0u, NONE);
  var weight = 0.0;
  for (var piece = lane; piece < pieces(); piece += 256u) {
    let at = base(row) + 4u + 5u * piece;
    let own = vec2<u32>($scratch[at], $scratch[at + 1u]);
    if (own.x > most.x || (own.x == most.x && own.y < most.y)) { most = own; }
    let score = vec2<u32>($scratch[at + 3u], $scratch[at + 4u]);
    if (score.x > best.x || (score.x == best.x && score.y < best.y)) { best = score; }
    weight += bitcast<f32>($scratch[at + 2u]);
  }
  let largest = group_best(most.x, most.y, lane);
  let drawn = group_best(best.x, best.y, lane);
  let sum = group_sum(weight, lane);
  if (lane == 0u) {
    let id = select(drawn.y, largest.y, is_greedy(row));
    let first = vec4<u32>(0u, row, 0u, 0u);
    let second = vec4<u32>(1u, row, 0u, 0u);
    if (largest.x == 0u) {
      out_put_int(first, -1);
      out_put_int(second, bitcast<i32>(0xff800000u));
    } else {
      let logit = logits_at(vec4<u32>(id, row, 0u, 0u));
      out_put_int(first, bitcast<i32>(id));
      out_put_int(second, bitcast<i32>((logit - value_of(largest.x)) - log(sum)));
    }
  }
}
