//#include reduce
fn hash(seed_low: u32, seed_high: u32, counter: u32, index: u32) -> u32 {
  var v = vec4<u32>(seed_low, seed_high, counter, index) * 1664525u + 1013904223u;
  v.x += v.y * v.w;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v.w += v.y * v.z;
  v = v ^ (v >> vec4<u32>(16u));
  v.x += v.y * v.w;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v.w += v.y * v.z;
  return v.w;
}
// -ln(-ln u). Near 1 the inner logarithm comes from a series: its absolute error would swamp it.
fn gumbel(bits: u32) -> f32 {
  let u = (f32(bits >> 9u) + 0.5) * 1.1920928955078125e-7;
  let w = 1.0 - u;
  let s = w / (2.0 - w);
  let q = s * s;
  let series = 2.0 * (s + s * q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * (1.0 / 9.0
      + q * (1.0 / 11.0 + q * (1.0 / 13.0)))))));
  return -log(select(series, -log(u), u < 0.5));
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.y;
  let end = width(row);
  var most = 0u;
  var most_at = NONE;
  for (var piece = lane; piece < pieces(); piece += 256u) {
    let own = $scratch[base(row) + 4u + 5u * piece];
    let at = $scratch[base(row) + 5u + 5u * piece];
    if (own > most || (own == most && at < most_at)) {
      most = own;
      most_at = at;
    }
  }
  let largest = value_of(group_best(most, most_at, lane).x);
  let greedy = is_greedy(row);
  let temperature = bitcast<f32>(word(row, 0u));
  let last = $scratch[base(row)];
  let cut = $scratch[base(row) + 1u];
  var weight = 0.0;
  var best = 0u;
  var best_at = NONE;
  for (var k = 0u; k < 4u; k++) {
    let i = group.x * PIECE + k * 256u + lane;
    if (i < end) {
      let logit = logits_at(vec4<u32>(i, row, 0u, 0u));
      let own = key(logit);
      if (own > 0u) {
        weight += exp(logit - largest);
        let candidate = own > last || (own == last && i < cut);
        if (candidate && !greedy) {
          let noise = gumbel(hash(word(row, 2u), word(row, 3u), word(row, 4u), i));
          let score = key((logit - largest) / temperature + noise);
          if (score > best) {
            best = score;
            best_at = i;
          }
        }
      }
    }
  }
  let chosen = group_best(best, best_at, lane);
  let sum = group_sum(weight, lane);
  if (lane == 0u) {
    let to = base(row) + 6u + 5u * group.x;
    $scratch[to] = bitcast<u32>(sum);
    $scratch[to + 1u] = chosen.x;
    $scratch[to + 2u] = chosen.y;
  }
}
