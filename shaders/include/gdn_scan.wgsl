// Chunks of a segment one after the other, a workgroup per WIDTH value channels of a head, their state in workgroup memory:
//   writes = T (v - e^G (K S)); out = e^G (Q S) + P writes; S <- e^(G of the last) S + (e^(G of the last - G) K)' writes
// with T and P from the preparation. Invocation (row group, channel group) has the same tokens and channels throughout.
//#include grid
//#include gdn_chunks
//#port state vec4<f32>
const DIM: u32 = $dim;
const WIDTH: u32 = $width;
const TC: u32 = WIDTH / 4u;
// One vector more than a row, so that rows begin in different banks.
const PITCH: u32 = DIM / 4u + 1u;
var<workgroup> held: array<vec4<f32>, WIDTH * PITCH>;
var<workgroup> rests: array<vec4<f32>, CHUNK * TC>;
var<workgroup> writes: array<vec4<f32>, CHUNK * TC>;
var<workgroup> nears: array<f32, CHUNK>;
// T, then P: rows of eight vectors and one more.
const LINE: u32 = CHUNK / 4u + 1u;
var<workgroup> factors: array<vec4<f32>, 2u * CHUNK * LINE>;
fn log_sum(base: u32, t: u32) -> f32 { return $scratch[base + 512u + t / 4u][t % 4u]; }
// Four values of the rows of an invocation's channels.
fn held_by(tc: u32, i: u32) -> mat4x4<f32> {
  let at = tc * PITCH + i;
  return mat4x4<f32>(held[at], held[at + TC * PITCH], held[at + 2u * TC * PITCH], held[at + 3u * TC * PITCH]);
}
// A row of the state in workgroup memory: the channels of one invocation lie TC rows apart.
fn line(j: u32) -> u32 { return ((j % 4u) * TC + j / 4u) * PITCH; }
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups);
  let of_segment = heads() * (DIM / WIDTH);
  let entry = n / of_segment;
  if (entry >= p.segments.shape.y) { return; }
  let head = n % of_segment / (DIM / WIDTH);
  let channel = n % (DIM / WIDTH) * WIDTH;
  let own = own_segment(entry, token_rows(), slots(), lane, false);
  let count = chunked(own.count);
  if (count == 0u) { return; }
  if (lane == 0u) {
    var before = 0u;
    for (var e = 0u; e < entry; e++) { before += chunks_of(e); }
    spot = vec2<u32>(before, 0u);
  }
  let before = workgroupUniformLoad(&spot).x;
  let plane = own.slot * p.snapshots;
  for (var e = lane; e < WIDTH * (DIM / 4u); e += 128u) {
    let j = e / (DIM / 4u);
    let i = e % (DIM / 4u);
    if (own.fresh) {
      held[line(j) + i] = vec4<f32>(0.0);
    } else {
      held[line(j) + i] = $state[state_index(head, plane + min(own.plane, p.snapshots - 1u), channel + j, i)];
    }
  }
  let tr = lane / TC;
  let tc = lane % TC;
  let scale = 1.0 / sqrt(f32(DIM));
  for (var at = 0u; at < count; at += CHUNK) {
    let place = vec2<u32>(own.row + at, min(CHUNK, count - at));
    let base = matrices(before + at / CHUNK, head);
    let last = log_sum(base, CHUNK - 1u);
    workgroupBarrier();
    if (lane < CHUNK) { nears[lane] = exp(last - log_sum(base, lane)); }
    for (var e = lane; e < 2u * CHUNK * (CHUNK / 4u); e += 128u) {
      factors[e / 8u * LINE + e % 8u] = $scratch[base + e];
    }
    // A token and four channels an invocation.
    let t = min(tr, CHUNK - 1u);
    var known = vec4<f32>(0.0);
    var asked = vec4<f32>(0.0);
    // Four loads of each are on their way at once.
    for (var i = 0u; i < DIM / 4u; i += 4u) {
      let k0 = k_of(place, head, t, i);
      let k1 = k_of(place, head, t, i + 1u);
      let k2 = k_of(place, head, t, i + 2u);
      let k3 = k_of(place, head, t, i + 3u);
      let q0 = q_of(place, head, t, i);
      let q1 = q_of(place, head, t, i + 1u);
      let q2 = q_of(place, head, t, i + 2u);
      let q3 = q_of(place, head, t, i + 3u);
      let m0 = held_by(tc, i);
      known += k0 * m0;
      asked += q0 * m0;
      let m1 = held_by(tc, i + 1u);
      known += k1 * m1;
      asked += q1 * m1;
      let m2 = held_by(tc, i + 2u);
      known += k2 * m2;
      asked += q2 * m2;
      let m3 = held_by(tc, i + 3u);
      known += k3 * m3;
      asked += q3 * m3;
    }
    let decayed = exp(log_sum(base, t));
    asked *= decayed * scale;
    let rest = v_of(place, head, t, channel + 4u * tc) - decayed * known;
    if (tr < CHUNK) { rests[t * TC + tc] = select(vec4<f32>(0.0), rest, t < place.y); }
    workgroupBarrier();
    // Rows only take from those before them, whatever the later ones hold.
    var write = vec4<f32>(0.0);
    for (var i = 0u; i < CHUNK / 4u; i++) {
      let f = factors[t * LINE + i];
      let u = 4u * i;
      write = select(write, write + f.x * rests[u * TC + tc], u <= t);
      write = select(write, write + f.y * rests[(u + 1u) * TC + tc], u + 1u <= t);
      write = select(write, write + f.z * rests[(u + 2u) * TC + tc], u + 2u <= t);
      write = select(write, write + f.w * rests[(u + 3u) * TC + tc], u + 3u <= t);
    }
    if (tr < CHUNK) { writes[t * TC + tc] = write; }
    workgroupBarrier();
    for (var i = 0u; i < CHUNK / 4u; i++) {
      let f = factors[(CHUNK + t) * LINE + i];
      let u = 4u * i;
      asked = select(asked, asked + f.x * writes[u * TC + tc], u <= t);
      asked = select(asked, asked + f.y * writes[(u + 1u) * TC + tc], u + 1u <= t);
      asked = select(asked, asked + f.z * writes[(u + 2u) * TC + tc], u + 2u <= t);
      asked = select(asked, asked + f.w * writes[(u + 3u) * TC + tc], u + 3u <= t);
    }
    if (tr < place.y) { put_o(head, place.x + t, channel + 4u * tc, asked); }
    let kept = exp(last);
    for (var e = lane; e < TC * (DIM / 4u); e += 128u) {
      let i = e % (DIM / 4u);
      let c = e / (DIM / 4u);
      var a = held[c * PITCH + i] * kept;
      var b = held[(TC + c) * PITCH + i] * kept;
      var d = held[(2u * TC + c) * PITCH + i] * kept;
      var f = held[(3u * TC + c) * PITCH + i] * kept;
      // Tokens that the chunk lacks write nothing.
      for (var u = 0u; u < CHUNK; u += 4u) {
        let k0 = k_of(place, head, u, i) * nears[u];
        let k1 = k_of(place, head, u + 1u, i) * nears[u + 1u];
        let k2 = k_of(place, head, u + 2u, i) * nears[u + 2u];
        let k3 = k_of(place, head, u + 3u, i) * nears[u + 3u];
        let w0 = writes[u * TC + c];
        let w1 = writes[(u + 1u) * TC + c];
        let w2 = writes[(u + 2u) * TC + c];
        let w3 = writes[(u + 3u) * TC + c];
        a += k0 * w0.x + k1 * w1.x + k2 * w2.x + k3 * w3.x;
        b += k0 * w0.y + k1 * w1.y + k2 * w2.y + k3 * w3.y;
        d += k0 * w0.z + k1 * w1.z + k2 * w2.z + k3 * w3.z;
        f += k0 * w0.w + k1 * w1.w + k2 * w2.w + k3 * w3.w;
      }
      held[c * PITCH + i] = a;
      held[(TC + c) * PITCH + i] = b;
      held[(2u * TC + c) * PITCH + i] = d;
      held[(3u * TC + c) * PITCH + i] = f;
    }
  }
  workgroupBarrier();
  for (var e = lane; e < WIDTH * (DIM / 4u); e += 128u) {
    let j = e / (DIM / 4u);
    let i = e % (DIM / 4u);
    $state[state_index(head, plane, channel + j, i)] = held[line(j) + i];
  }
}
