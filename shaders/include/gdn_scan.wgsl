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
      held[line(j) + i] = $state[state_index(head, plane + own.plane, channel + j, i)];
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
    for (var i = 0u; i < DIM / 4u; i++) {
      let a = held[tc * PITCH + i];
      let b = held[(TC + tc) * PITCH + i];
      let c = held[(2u * TC + tc) * PITCH + i];
      let d = held[(3u * TC + tc) * PITCH + i];
      let k = k_of(place, head, t, i);
      let q = q_of(place, head, t, i);
      known += vec4<f32>(dot(k, a), dot(k, b), dot(k, c), dot(k, d));
      asked += vec4<f32>(dot(q, a), dot(q, b), dot(q, c), dot(q, d));
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
      for (var u = 0u; u < place.y; u++) {
        let k = k_of(place, head, u, i) * nears[u];
        let w = writes[u * TC + c];
        a += k * w.x;
        b += k * w.y;
        d += k * w.z;
        f += k * w.w;
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
