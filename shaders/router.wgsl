// The experts of each token and their weights. A workgroup a token: each logit counts those before it, which is its place
// in the order, ties to the lower index.
//#include grid
//#include order
//#include reduce
//#port logits any
//#port ids any
//#port weights any
const LOWEST: f32 = -3.4028234e38;
var<workgroup> keys: array<u32, 256>;
var<workgroup> chosen: array<f32, 256>;
// NaN where a logit is NaN or infinite, whatever `exp` makes of it.
fn share_of(v: f32, most: f32) -> f32 {
  let bits = bitcast<u32>(most);
  let share = select(exp(v - most), 0.0, bitcast<u32>(v) == 0xff800000u);
  return select(share, bitcast<f32>(bits | 0x400000u), (bits & 0x7fffffffu) >= 0x7f800000u);
}
fn score(expert: u32, token: u32) -> f32 { return logits_at(vec4<u32>(expert, token, 0u, 0u)) * p.scale; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let experts = p.logits.shape.x;
  let tokens = p.logits.shape.y;
  // Workgroups beyond the last token do its work again and write nothing: nobody may miss a barrier.
  let inside = flat(group, groups) < tokens;
  let token = min(flat(group, groups), tokens - 1u);
  var most = LOWEST;
  for (var k = lane; k < experts; k += 256u) {
    let v = score(k, token);
    most = larger(most, select(v, LOWEST, bitcast<u32>(v) == 0xff800000u));
  }
  most = group_max(most, lane);
  var sum = 0.0;
  for (var k = lane; k < experts; k += 256u) { sum += share_of(score(k, token), most); }
  sum = group_sum(sum, lane);
  for (var base = 0u; base < experts; base += 256u) {
    let own = base + lane;
    let key = order_key(score(min(own, experts - 1u), token));
    var place = 0u;
    for (var tile = 0u; tile < experts; tile += 256u) {
      // The keys of the tile before have been read.
      workgroupBarrier();
      // Below every key: no logit stands behind the last one.
      keys[lane] = 0u;
      if (tile + lane < experts) { keys[lane] = order_key(score(tile + lane, token)); }
      workgroupBarrier();
      for (var j = 0u; j < 256u; j++) {
        place += select(0u, 1u, keys[j] > key || (keys[j] == key && tile + j < own));
      }
    }
    if (own < experts && place < p.k) {
      // Of a row that is excluded whole nothing has a share.
      chosen[place] = select(share_of(score(own, token), most) / sum, 0.0, sum == 0.0);
      if (inside) { ids_put_int(vec4<u32>(place, token, 0u, 0u), i32(own)); }
    }
  }
  // Shares that others wrote are read.
  workgroupBarrier();
  if (inside && lane < p.k) {
    var all = 0.0;
    for (var j = 0u; j < p.k; j++) { all += chosen[j]; }
    weights_put(vec4<u32>(lane, token, 0u, 0u), chosen[lane] / larger(all, p.least));
  }
}
