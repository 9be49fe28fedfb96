// The triangular part of a chunk of 32 tokens for one head: with A[t, u] = beta_t (k_t . k_u) decay(u to t) for u < t, the
// writes are (I + A)^-1 (beta (v - decayed state . k)), and outputs add (q_t . k_u) decay(u to t) times the writes. Rows
// only take from rows before them, so what is not finite stays where it belongs.
//#include grid
//#include functions
//#include gdn_chunks
const DIM: u32 = $dim;
const PITCH: u32 = 33u;
var<workgroup> sums: array<f32, 32>;
var<workgroup> logs: array<f32, 32>;
var<workgroup> betas: array<f32, 32>;
var<workgroup> lower: array<f32, 1056>;
var<workgroup> inverse: array<f32, 1056>;
var<workgroup> corner: array<f32, 256>;
fn decay(t: u32, u: u32) -> f32 { return exp(select(0.0, sums[t] - sums[u], u <= t)); }
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups);
  let head = n % heads();
  let place = chunk_place(n / heads(), lane);
  if (place.y == 0u) { return; }
  if (lane < CHUNK) {
    // A missing token has no decay, key and strength: it changes nothing.
    var strength = vec2<f32>(0.0);
    if (lane < place.y) { strength = strengths(head, place.x + lane); }
    logs[lane] = strength.x;
    betas[lane] = strength.y;
  }
  workgroupBarrier();
  if (lane < CHUNK) {
    var sum = 0.0;
    for (var u = 0u; u <= lane; u++) { sum += logs[u]; }
    sums[lane] = sum;
  }
  let tr = lane / 8u;
  let tc = lane % 8u;
  var kk: array<vec4<f32>, 2>;
  var qk: array<vec4<f32>, 2>;
  for (var i = 0u; i < DIM / 4u; i++) {
    let a = k_of(place, head, 4u * tc, i);
    let b = k_of(place, head, 4u * tc + 1u, i);
    let c = k_of(place, head, 4u * tc + 2u, i);
    let d = k_of(place, head, 4u * tc + 3u, i);
    for (var r = 0u; r < 2u; r++) {
      let k = k_of(place, head, tr + 16u * r, i);
      let q = q_of(place, head, tr + 16u * r, i);
      kk[r] += vec4<f32>(dot(k, a), dot(k, b), dot(k, c), dot(k, d));
      qk[r] += vec4<f32>(dot(q, a), dot(q, b), dot(q, c), dot(q, d));
    }
  }
  workgroupBarrier();
  let base = matrices(n / heads(), head);
  let scale = 1.0 / sqrt(f32(DIM));
  for (var r = 0u; r < 2u; r++) {
    let t = tr + 16u * r;
    var near = vec4<f32>(0.0);
    for (var c = 0u; c < 4u; c++) {
      let u = 4u * tc + c;
      let weight = decay(t, u);
      near[c] = select(0.0, qk[r][c] * weight * scale, u <= t);
      lower[t * PITCH + u] = select(0.0, kk[r][c] * weight * betas[t], u < t);
      inverse[t * PITCH + u] = 0.0;
    }
    $scratch[base + 256u + t * 8u + tc] = near;
  }
  workgroupBarrier();
  // The two blocks of 16 on the diagonal, a column an invocation.
  if (lane < CHUNK) {
    let first = lane / 16u * 16u;
    for (var t = first; t < first + 16u; t++) {
      var x = select(0.0, 1.0, t == lane);
      for (var u = first; u < t; u++) { x -= lower[t * PITCH + u] * inverse[u * PITCH + lane]; }
      inverse[t * PITCH + lane] = x;
    }
  }
  workgroupBarrier();
  // The block below them: -inverse(second) . lower . inverse(first).
  for (var e = lane; e < 256u; e += 128u) {
    var x = 0.0;
    for (var u = 0u; u < 16u; u++) { x += lower[(16u + e / 16u) * PITCH + u] * inverse[u * PITCH + e % 16u]; }
    corner[e] = x;
  }
  workgroupBarrier();
  for (var e = lane; e < 256u; e += 128u) {
    let t = 16u + e / 16u;
    var x = 0.0;
    for (var u = 0u; u <= e / 16u; u++) { x -= inverse[t * PITCH + 16u + u] * corner[u * 16u + e % 16u]; }
    inverse[t * PITCH + e % 16u] = x;
  }
  workgroupBarrier();
  for (var r = 0u; r < 2u; r++) {
    let t = tr + 16u * r;
    var x = vec4<f32>(0.0);
    for (var c = 0u; c < 4u; c++) { x[c] = inverse[t * PITCH + 4u * tc + c] * betas[4u * tc + c]; }
    $scratch[base + t * 8u + tc] = x;
  }
  if (lane < 8u) {
    $scratch[base + 512u + lane] =
      vec4<f32>(sums[4u * lane], sums[4u * lane + 1u], sums[4u * lane + 2u], sums[4u * lane + 3u]);
  }
}
