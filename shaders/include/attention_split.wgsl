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
const KEYS = $keys;
const TEAMS = LANES / SHARE;
const BLOCK = TEAMS * KEYS;
// Pieces of a key that a lane has in flight.
const STEPS = PIECES / SHARE;
const AHEAD = $ahead;
// Lanes that share the largest score of a block's cells, and cells of one.
const PARTS = 8u;
// Rows of values at once, and how many a lane has in flight.
const ROWS = LANES / PIECES;
const FLIGHT = $flight;
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
  // Written out, since arrays and loops over them can end in memory.
//#repeat h heads
  var low%h = vec4<f32>();
  var high%h = vec4<f32>();
//#end
  for (var first = start; first < end; first += BLOCK) {
    let count = min(BLOCK, end - first);
    workgroupBarrier();
    // Behind the last cell it is read again: its scores are not used there.
//#repeat j keys
    let row%j = k0 + (first + min(team + %ju * TEAMS, count - 1u)) * p.k.stride.y;
//#repeat h heads
    var dot%jof%h = 0.0;
//#end
//#end
    for (var step = 0u; step < STEPS; step += AHEAD) {
//#repeat i ahead
//#repeat j keys
      let key%jat%i = k_raw(row%j, member + (step + %iu) * SHARE);
//#end
//#end
//#repeat i ahead
      let at%i = (member + (step + %iu) * SHARE) * 2u;
//#repeat j keys
      let piece%jat%i = k_decoded(key%jat%i);
//#end
//#repeat h heads
      let a%hat%i = room[%hu * QUADS + at%i];
      let b%hat%i = room[%hu * QUADS + at%i + 1u];
//#repeat j keys
      dot%jof%h += dot(a%hat%i, piece%jat%i.a) + dot(b%hat%i, piece%jat%i.b);
//#end
//#end
//#end
    }
    // The first values are on their way while weights are found.
//#repeat f flight
    var value%f = v_raw(v0 + (first + min(lane / PIECES + %fu * ROWS, count - 1u)) * p.v.stride.y, lane % PIECES);
//#end
//#repeat j keys
//#repeat h heads
//#if subgroups
    for (var mask = 1u; mask < SHARE; mask *= 2u) { dot%jof%h += subgroupShuffleXor(dot%jof%h, mask); }
//#end
    if (member == %ju) { weights[(team + %ju * TEAMS) * PITCH + %hu] = dot%jof%h; }
//#end
//#end
    workgroupBarrier();
    if (part < PARTS) {
      var peak = LOWEST;
      if (head < HEADS) {
        for (var c = part; c < count; c += PARTS) { peak = higher(peak, weights[c * PITCH + head]); }
      }
      parts[lane] = peak;
    }
    workgroupBarrier();
    var next = most;
    for (var i = 0u; i < PARTS; i++) { next = higher(next, parts[i * PITCH + head]); }
    let shrink = shrunk(most, next);
    most = next;
    total *= shrink;
    if (head < HEADS) {
      for (var c = part; c < count; c += LANES / PITCH) {
        let share = weight(weights[c * PITCH + head] - next);
        weights[c * PITCH + head] = share;
        total += share;
      }
    }
    if (part == 0u) { shrinks[head] = shrink; }
    workgroupBarrier();
//#repeat h heads
    low%h *= shrinks[%hu];
    high%h *= shrinks[%hu];
//#end
    for (var c0 = lane / PIECES; c0 < count; c0 += ROWS * FLIGHT) {
//#repeat f flight
      if (c0 + %fu * ROWS < count) {
        let value = v_decoded(value%f);
        let own = (c0 + %fu * ROWS) * PITCH;
//#repeat h heads
        low%h += weights[own + %hu] * value.a;
        high%h += weights[own + %hu] * value.b;
//#end
        // The one that takes its place.
        let next = c0 + (%fu + FLIGHT) * ROWS;
        if (next < count) { value%f = v_raw(v0 + (first + next) * p.v.stride.y, lane % PIECES); }
      }
//#end
    }
  }
  // The sums of all rows, head by head in two halves of the room in turn.
//#repeat h heads
  {
    let half = (%hu & 1u) * 2u * LANES;
    room[half + lane * 2u] = low%h;
    room[half + lane * 2u + 1u] = high%h;
    workgroupBarrier();
    if (lane < QUADS && %hu < live) {
      var sum = vec4<f32>();
      for (var i = 0u; i < ROWS; i++) { sum += room[half + i * QUADS + lane]; }
      $scratch[sums_at(group.z, head0 + %hu, group.x) + lane] = sum;
    }
  }
//#end
  parts[lane] = total;
  workgroupBarrier();
  if (lane < live) {
    total = 0.0;
    for (var i = 0u; i < LANES / PITCH; i++) { total += parts[i * PITCH + lane]; }
    $scratch[sums_at(group.z, head0 + lane, group.x) + QUADS] = vec4<f32>(most, total, 0.0, 0.0);
  }
}
