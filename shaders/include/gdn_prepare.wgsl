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
// Keys and queries of 16 channels. Rows lie so that those which invocations read together begin in different banks.
const SLAB: u32 = 4u;
var<workgroup> staged_k: array<vec4<f32>, 176>;
var<workgroup> staged_q: array<vec4<f32>, 176>;
fn line(t: u32) -> u32 { return ((t % 4u) * 9u + t / 4u) * (SLAB + 1u); }
// Four of a token's products with keys, by how much is left of each at that token.
fn put_row(base: u32, t: u32, tc: u32, kk: vec4<f32>, qk: vec4<f32>) {
  let u = vec4<u32>(4u * tc, 4u * tc + 1u, 4u * tc + 2u, 4u * tc + 3u);
  let near = vec4<f32>(sums[t]) - vec4<f32>(sums[u.x], sums[u.y], sums[u.z], sums[u.w]);
  let none = vec4<f32>(0.0);
  let left = exp(select(none, near, u <= vec4<u32>(t)));
  $scratch[base + 256u + t * 8u + tc] = select(none, qk * left * (1.0 / sqrt(f32(DIM))), u <= vec4<u32>(t));
  let line = select(none, kk * left * betas[t], u < vec4<u32>(t));
  let at = t * PITCH + u.x;
  lower[at] = line.x;
  lower[at + 1u] = line.y;
  lower[at + 2u] = line.z;
  lower[at + 3u] = line.w;
  inverse[at] = 0.0;
  inverse[at + 1u] = 0.0;
  inverse[at + 2u] = 0.0;
  inverse[at + 3u] = 0.0;
}
fn inverse_row(t: u32, u: u32) -> vec4<f32> {
  let at = t * PITCH + u;
  return vec4<f32>(inverse[at] * betas[u], inverse[at + 1u] * betas[u + 1u], inverse[at + 2u] * betas[u + 2u],
                   inverse[at + 3u] * betas[u + 3u]);
}
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
  var kk0 = vec4<f32>(0.0);
  var kk1 = vec4<f32>(0.0);
  var qk0 = vec4<f32>(0.0);
  var qk1 = vec4<f32>(0.0);
  for (var first = 0u; first < DIM / 4u; first += SLAB) {
    workgroupBarrier();
    for (var e = lane; e < CHUNK * SLAB; e += 128u) {
      let to = line(e / SLAB) + e % SLAB;
      staged_k[to] = k_of(place, head, e / SLAB, first + e % SLAB);
      staged_q[to] = q_of(place, head, e / SLAB, first + e % SLAB);
    }
    workgroupBarrier();
    for (var i = 0u; i < SLAB; i++) {
      let keys = mat4x4<f32>(staged_k[line(4u * tc) + i], staged_k[line(4u * tc + 1u) + i],
                             staged_k[line(4u * tc + 2u) + i], staged_k[line(4u * tc + 3u) + i]);
      kk0 += staged_k[line(tr) + i] * keys;
      kk1 += staged_k[line(tr + 16u) + i] * keys;
      qk0 += staged_q[line(tr) + i] * keys;
      qk1 += staged_q[line(tr + 16u) + i] * keys;
    }
  }
  workgroupBarrier();
  let base = matrices(n / heads(), head);
  put_row(base, tr, tc, kk0, qk0);
  put_row(base, tr + 16u, tc, kk1, qk1);
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
  $scratch[base + tr * 8u + tc] = inverse_row(tr, 4u * tc);
  $scratch[base + (tr + 16u) * 8u + tc] = inverse_row(tr + 16u, 4u * tc);
  if (lane < 8u) {
    $scratch[base + 512u + lane] =
      vec4<f32>(sums[4u * lane], sums[4u * lane + 1u], sums[4u * lane + 2u], sums[4u * lane + 3u]);
  }
}
