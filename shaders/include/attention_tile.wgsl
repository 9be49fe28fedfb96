// Attention of many tokens: 64 rows, which are tokens times the query heads that share a key/value head, against blocks
// of 32 cells. Each invocation holds four rows, and of their results every sixteenth piece of eight columns.
//#include attention_tokens
//#include attention_pieces
const LANES = 256u;
const PIECES = WIDTH / 8u;
const OWN = (PIECES + 15u) / 16u;
const KEYS = 32u;
// Columns of queries and keys that are staged at once, in words of 16 bytes; the pitches keep banks apart.
const DEEP = 8u;
const Q_PITCH = 65u;
const K_PITCH = 33u;
const BESIDE = DEEP * Q_PITCH;
// Queries, then weights; behind them keys, then largest scores.
var<workgroup> room: array<vec4<f32>, BESIDE + DEEP * K_PITCH>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tx = lane % 16u;
  let ty = lane / 16u;
  let kv = group.y / p.batches;
  let token0 = group.x * p.tile_tokens;
  var tokens: vec4<u32>;
  for (var i = 0u; i < 4u; i++) { tokens[i] = token_of(ty * 4u + i, group); }
  let span = chunk_span(lane);
  let start = group.z * span;
  var held: vec4<bool>;
  var most = vec4<f32>(LOWEST);
  var total: vec4<f32>;
  // By own piece, row and half.
  var sums: array<vec4<f32>, OWN * 8u>;
  for (var s = 0u; s < p.segments.shape.y; s++) {
    let segment = load_run(s, lane, group);
    let begin = max(segment.y, token0);
    let stop = min(segment.y + segment.z, token0 + p.tile_tokens);
    if (segment.z == 0u || begin >= stop) { continue; }
    var seen: vec4<u32>;
    for (var i = 0u; i < 4u; i++) {
      let mine = tokens[i] >= begin && tokens[i] < stop;
      seen[i] = select(0u, cells_of(segment.w, tokens[i] - segment.y), mine);
      // Where there are no cells, a row is zero.
      held[i] = held[i] || (mine && (start == 0u || start < seen[i]));
    }
    let limit = cells_of(segment.w, stop - 1u - segment.y);
    let end = min(limit, select(start + span, limit, span > limit));
    let k0 = p.k.offset + kv * p.k.stride.z + segment.x * p.k.stride.w;
    let v0 = p.v.offset + kv * p.v.stride.z + segment.x * p.v.stride.w;
    for (var first = start; first < end; first += KEYS) {
      let count = min(KEYS, end - first);
      var left: vec4<f32>;
      var right: vec4<f32>;
      for (var d = 0u; d < QUADS; d += DEEP) {
        workgroupBarrier();
        for (var i = lane; i < 64u * DEEP; i += LANES) {
          room[(i % DEEP) * Q_PITCH + i / DEEP] = p.scale * $q[query_at(i / DEEP, group) + d + i % DEEP];
        }
        if (lane < KEYS * DEEP / 2u) {
          let key = lane / (DEEP / 2u);
          let piece = lane % (DEEP / 2u);
          // Behind the last cell it is read again: its scores are not used there.
          let part = k_piece(k0 + (first + min(key, count - 1u)) * p.k.stride.y, d / 2u + piece);
          room[BESIDE + piece * 2u * K_PITCH + key] = part.a;
          room[BESIDE + (piece * 2u + 1u) * K_PITCH + key] = part.b;
        }
        workgroupBarrier();
        for (var i = 0u; i < DEEP; i++) {
          let a = room[i * Q_PITCH + ty * 4u];
          let b = room[i * Q_PITCH + ty * 4u + 1u];
          let c = room[i * Q_PITCH + ty * 4u + 2u];
          let e = room[i * Q_PITCH + ty * 4u + 3u];
          let k = room[BESIDE + i * K_PITCH + tx];
          let l = room[BESIDE + i * K_PITCH + tx + 16u];
          left += vec4<f32>(dot(a, k), dot(b, k), dot(c, k), dot(e, k));
          right += vec4<f32>(dot(a, l), dot(b, l), dot(c, l), dot(e, l));
        }
      }
      let sees_left = vec4<u32>(first + tx) < seen;
      let sees_right = vec4<u32>(first + tx + 16u) < seen;
      left = select(vec4<f32>(LOWEST), left, sees_left);
      right = select(vec4<f32>(LOWEST), right, sees_right);
      workgroupBarrier();
      room[BESIDE + tx * 16u + ty] = higher_each(left, right);
      workgroupBarrier();
      var next = most;
      for (var i = 0u; i < 16u; i++) { next = higher_each(next, room[BESIDE + i * 16u + ty]); }
      let shrink = shrunk_each(most, next);
      most = next;
      left = select(vec4<f32>(), weights_of(left - next), sees_left);
      right = select(vec4<f32>(), weights_of(right - next), sees_right);
      total = total * shrink + left + right;
      room[tx * 16u + ty] = left;
      room[(tx + 16u) * 16u + ty] = right;
      for (var o = 0u; o < OWN * 8u; o += 8u) {
        for (var i = 0u; i < 4u; i++) {
          sums[o + i * 2u] *= shrink[i];
          sums[o + i * 2u + 1u] *= shrink[i];
        }
      }
      workgroupBarrier();
      // What a cell holds cannot matter to rows that do not see it.
      let whole = all(vec4<u32>(first + count) <= seen);
      if (tx < PIECES) {
        for (var key = 0u; key < count; key++) {
          let w = room[key * 16u + ty];
          for (var o = 0u; o < OWN; o++) {
            let part = v_piece(v0 + (first + key) * p.v.stride.y, o * 16u + tx);
            for (var i = 0u; i < 4u; i++) {
              if (whole || first + key < seen[i]) {
                sums[o * 8u + i * 2u] += w[i] * part.a;
                sums[o * 8u + i * 2u + 1u] += w[i] * part.b;
              }
            }
          }
        }
      }
    }
  }
  workgroupBarrier();
  room[tx * 16u + ty] = total;
  workgroupBarrier();
  total = vec4<f32>();
  for (var i = 0u; i < 16u; i++) { total += room[i * 16u + ty]; }
  if (tx >= PIECES) { return; }
  for (var i = 0u; i < 4u; i++) {
    if (!held[i]) { continue; }
    let row = row_of(ty * 4u + i, group);
//#if !direct
    if (tx == 0u) { $scratch[sums_at(row.x, row.y, group.z) + QUADS] = vec4<f32>(most[i], total[i], 0.0, 0.0); }
//#end
    for (var o = 0u; o < OWN; o++) {
      for (var half = 0u; half < 2u; half++) {
        keep(row, group.z, (o * 16u + tx) * 2u + half, sums[o * 8u + i * 2u + half], total[i]);
      }
    }
  }
}
