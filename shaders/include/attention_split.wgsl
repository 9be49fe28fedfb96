// Attention of single tokens, split over cells. A workgroup reads a chunk of one key/value head once, for several query
// heads that share it, and leaves each head's largest score, sum of weights and weighted sum of values.
//#include attention_chunks
//#include attention_pieces
//#port q vec4<f32>
// Query heads at once, and the pitch of their weights.
const HEADS = $heads;
const PITCH = $pitch;
const LANES = 128u;
const PIECES = WIDTH / 8u;
// Lanes that share a key, and keys of a lane: a query is read from workgroup memory once for all of them.
const SHARE = $share;
const KEYS = $share;
const TEAMS = LANES / SHARE;
const BLOCK = TEAMS * KEYS;
// Lanes that share softmax over a block's cells.
const PARTS = LANES / PITCH;
// Rows of values at once, and how many a lane has in flight.
const ROWS = LANES / PIECES;
const FLIGHT = 4u;
// Queries, in the end sums of values.
var<workgroup> room: array<vec4<f32>, $room>;
var<workgroup> weights: array<f32, BLOCK * PITCH>;
var<workgroup> parts: array<f32, LANES>;
var<workgroup> shrinks: array<f32, PITCH>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32
//#if subgroups
        , @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) wide: u32,
        @builtin(subgroup_invocation_id) inside: u32
//#end
) {
  let found = find_place(group.z, lane, LANES, all(group == vec3<u32>()));
  if (found.y == 0u) { return; }
  let visible = found.y - 1u;
  let start = group.x * span_of(visible);
  if (start >= visible) { return; }
  let end = min(start + span_of(visible), visible);
  let sharing = p.q.shape.z / p.k.shape.z;
  let kv = group.y / p.batches;
  let head0 = kv * sharing + group.y % p.batches * HEADS;
  let live = min(HEADS, (kv + 1u) * sharing - head0);
  for (var i = lane; i < HEADS * QUADS; i += LANES) {
    let h = min(i / QUADS, live - 1u);
    let at = p.q.offset + group.z * p.q.stride.y + (head0 + h) * p.q.stride.z;
    room[i] = p.scale * $q[at / 16u + i % QUADS];
  }
//#if subgroups
  let team = (wave * wide + inside) / SHARE;
  let member = inside % SHARE;
//#else
  let team = lane;
  let member = 0u;
//#end
  let k0 = p.k.offset + kv * p.k.stride.z + found.x * p.k.stride.w;
  let v0 = p.v.offset + kv * p.v.stride.z + found.x * p.v.stride.w;
  let head = lane % PITCH;
  let part = lane / PITCH;
  var most = LOWEST;
  var total = 0.0;
  var low: array<vec4<f32>, HEADS>;
  var high: array<vec4<f32>, HEADS>;
  for (var first = start; first < end; first += BLOCK) {
    let count = min(BLOCK, end - first);
    workgroupBarrier();
    var dots: array<f32, KEYS * HEADS>;
    var keys: array<Piece, KEYS>;
    for (var piece = member; piece < PIECES; piece += SHARE) {
      // Behind the last cell it is read again: its scores are not used there.
      for (var j = 0u; j < KEYS; j++) {
        keys[j] = k_piece(k0 + (first + min(team + j * TEAMS, count - 1u)) * p.k.stride.y, piece);
      }
      for (var h = 0u; h < HEADS; h++) {
        let a = room[h * QUADS + piece * 2u];
        let b = room[h * QUADS + piece * 2u + 1u];
        for (var j = 0u; j < KEYS; j++) { dots[j * HEADS + h] += dot(a, keys[j].a) + dot(b, keys[j].b); }
      }
    }
    for (var j = 0u; j < KEYS; j++) {
      for (var h = 0u; h < HEADS; h++) {
        var score = dots[j * HEADS + h];
//#if subgroups
        for (var mask = 1u; mask < SHARE; mask *= 2u) { score += subgroupShuffleXor(score, mask); }
//#end
        if (member == j) { weights[(team + j * TEAMS) * PITCH + h] = score; }
      }
    }
    workgroupBarrier();
    var peak = LOWEST;
    if (head < HEADS) {
      for (var c = part; c < count; c += PARTS) { peak = higher(peak, weights[c * PITCH + head]); }
    }
    parts[lane] = peak;
    workgroupBarrier();
    for (var i = 0u; i < PARTS; i++) { peak = higher(peak, parts[i * PITCH + head]); }
    let next = higher(most, peak);
    let shrink = shrunk(most, next);
    most = next;
    total *= shrink;
    if (head < HEADS) {
      for (var c = part; c < count; c += PARTS) {
        let share = weight(weights[c * PITCH + head] - next);
        weights[c * PITCH + head] = share;
        total += share;
      }
    }
    if (part == 0u) { shrinks[head] = shrink; }
    workgroupBarrier();
    for (var h = 0u; h < HEADS; h++) {
      low[h] *= shrinks[h];
      high[h] *= shrinks[h];
    }
    var values: array<Piece, FLIGHT>;
    for (var c0 = lane / PIECES; c0 < count; c0 += ROWS * FLIGHT) {
      for (var j = 0u; j < FLIGHT; j++) {
        values[j] = v_piece(v0 + (first + min(c0 + j * ROWS, count - 1u)) * p.v.stride.y, lane % PIECES);
      }
      for (var j = 0u; j < FLIGHT; j++) {
        let c = c0 + j * ROWS;
        if (c < count) {
          for (var h = 0u; h < HEADS; h++) {
            low[h] += weights[c * PITCH + h] * values[j].a;
            high[h] += weights[c * PITCH + h] * values[j].b;
          }
        }
      }
    }
  }
  // The sums of all rows, head by head.
  for (var h = 0u; h < HEADS; h++) {
    workgroupBarrier();
    room[lane * 2u] = low[h];
    room[lane * 2u + 1u] = high[h];
    workgroupBarrier();
    if (lane < QUADS && h < live) {
      var sum = vec4<f32>();
      for (var i = 0u; i < ROWS; i++) { sum += room[i * QUADS + lane]; }
      $scratch[sums_at(group.z, head0 + h, group.x) + lane] = sum;
    }
  }
  parts[lane] = total;
  workgroupBarrier();
  if (lane < live) {
    total = 0.0;
    for (var i = 0u; i < PARTS; i++) { total += parts[i * PITCH + lane]; }
    $scratch[sums_at(group.z, head0 + lane, group.x) + QUADS] = vec4<f32>(most, total, 0.0, 0.0);
  }
}
