// Attention of many tokens on matrix units: as the tiled form, but for weights and operands rounded to sixteen bits. Eight
// subgroups of 32; two of them share 16 rows, each with half of a block's cells and half of the results' columns.
//#include attention_tokens
//#if k_type=F16
//#port k vec4<f16>
//#port v vec4<f16>
//#else
//#include attention_pieces
//#end
const enable_f16 = true;
const KEYS = 32u;
const PIECES = QUADS / 2u;
// Distances of rows in workgroup memory; more than their lengths, to keep banks apart.
const PITCH = QUADS + 2u;
const Q_PITCH = QUADS / 2u + 2u;
const SCORES = 36u;
const WEIGHTS = 10u;
// A maximum may be exceeded by this much before results are rescaled: weights stay far below the largest half.
const SLACK = 8.0;
// Matrices must lie at multiples of 16 bytes. Drivers put variables one behind the other, in either order, aligned only as
// their types ask: so each is a multiple of 16 bytes long.
// Whether a row's maximum grew (1), and there are results to rescale (2): the first of four.
var<workgroup> grows: vec4<u32>;
// Cells of a block whose value holds something that is no finite number: the first of four.
var<workgroup> spoilt: array<atomic<u32>, 4>;
// What older sums of a row shrink by, in the end its sum of weights.
var<workgroup> shrinks: array<f32, 64>;
var<workgroup> held: array<u32, 64>;
// Half of the queries' columns, then the other half, then the keys of a block, then its values.
var<workgroup> stage: array<vec4<f16>, 64u * Q_PITCH>;
var<workgroup> weights: array<vec4<f16>, 64u * WEIGHTS>;
// Scores; also 16 x 16 squares of results, one for each subgroup.
var<workgroup> scores: array<f32, 64u * SCORES>;
// Values of a cell of a block. A product of weight 0 must stay 0 for rows that do not see the cell.
fn checked(v: vec4<f16>, cell: u32) -> vec4<f16> {
  if (all(abs(v) <= vec4<f16>(65504.0h))) { return v; }
  atomicOr(&spoilt[0], 1u << cell);
  return vec4<f16>();
}
// Half of the columns of all queries.
fn stage_queries(half: u32, lane: u32, group: vec3<u32>) {
  workgroupBarrier();
  for (var i = lane; i < 32u * QUADS; i += 256u) {
    let r = i / (QUADS / 2u);
    let c = i % (QUADS / 2u);
    stage[r * Q_PITCH + c] = vec4<f16>(p.scale * $q[query_at(r, group) + half * (QUADS / 2u) + c]);
  }
  workgroupBarrier();
}
// Scales a square's rows.
fn scale_square(square: u32, row0: u32, inside: u32) {
  for (var j = 0u; j < 8u; j++) { scores[square + inside * 8u + j] *= shrinks[row0 + inside / 2u]; }
}
// Keeps a square of results, eight columns a lane.
fn keep_square(square: u32, row0: u32, column: u32, inside: u32, group: vec3<u32>) {
  let r = row0 + inside / 2u;
  if (held[r] != 0u) {
    for (var j = 0u; j < 2u; j++) {
      let at = square + inside * 8u + j * 4u;
      let sums = vec4<f32>(scores[at], scores[at + 1u], scores[at + 2u], scores[at + 3u]);
      keep(row_of(r, group), group.z, column / 4u + inside % 2u * 2u + j, sums, shrinks[r]);
    }
  }
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) wave: u32,
        @builtin(subgroup_invocation_id) inside: u32) {
  let lane = wave * 32u + inside;
  let kv = group.y / p.batches;
  let token0 = group.x * p.tile_tokens;
  // Four lanes share a row of scores.
  let row = lane / 4u;
  let part = lane % 4u;
  let token = token_of(row, group);
  // Rows, cells and columns of the subgroup.
  let row0 = wave / 2u * 16u;
  let side = wave % 2u;
  let square = wave * 256u;
  let pitch = PITCH;
  let score_pitch = SCORES;
  let weight_pitch = WEIGHTS;
  let square_pitch = 16u;
$declare
  let q_row = row0 * Q_PITCH;
  let q_pitch = Q_PITCH;
$load_queries
  if (part == 0u) { held[row] = 0u; }
  let span = chunk_span(lane);
  let start = group.z * span;
  var most = LOWEST;
  var total = 0.0;
  var fresh = true;
  for (var s = 0u; s < p.segments.shape.y; s++) {
    let segment = load_run(s, lane, group);
    let begin = max(segment.y, token0);
    let stop = min(segment.y + segment.z, token0 + p.tile_tokens);
    if (segment.z == 0u || begin >= stop) { continue; }
    let mine = token >= begin && token < stop;
    let seen = select(0u, cells_of(segment.w, token - segment.y), mine);
    // Where there are no cells, a row is zero.
    if (part == 0u && mine && (start == 0u || start < seen)) { held[row] = 1u; }
    let limit = cells_of(segment.w, stop - 1u - segment.y);
    let end = min(limit, select(start + span, limit, span > limit));
    let k0 = p.k.offset + kv * p.k.stride.z + segment.x * p.k.stride.w;
    let v0 = p.v.offset + kv * p.v.stride.z + segment.x * p.v.stride.w;
    for (var first = start; first < end; first += KEYS) {
      let count = min(KEYS, end - first);
      workgroupBarrier();
      // Behind the last cell it is read again: its scores are not used there.
//#if k_type=F16
      for (var i = lane; i < KEYS * QUADS; i += 256u) {
        let at = k0 + (first + min(i / QUADS, count - 1u)) * p.k.stride.y;
        stage[i / QUADS * PITCH + i % QUADS] = $k[at / 8u + i % QUADS];
      }
//#else
      for (var i = lane; i < KEYS * PIECES; i += 256u) {
        let key = k_piece(k0 + (first + min(i / PIECES, count - 1u)) * p.k.stride.y, i % PIECES);
        let at = i / PIECES * PITCH + i % PIECES * 2u;
        stage[at] = vec4<f16>(key.a);
        stage[at + 1u] = vec4<f16>(key.b);
      }
//#end
      if (lane == 0u) {
        grows.x = 0u;
        atomicStore(&spoilt[0], 0u);
      }
      workgroupBarrier();
      {
        let key_row = side * 16u * PITCH;
        let score = row0 * SCORES + side * 16u;
        var c = coop_mat16x16<f32, C>();
$multiply_keys
        coopStoreT(c, &scores[score], score_pitch);
      }
      workgroupBarrier();
//#if k_type=F16
      for (var i = lane; i < KEYS * QUADS; i += 256u) {
        var v = vec4<f16>();
        if (i / QUADS < count) {
          v = checked($v[(v0 + (first + i / QUADS) * p.v.stride.y) / 8u + i % QUADS], i / QUADS);
        }
        stage[i / QUADS * PITCH + i % QUADS] = v;
      }
//#else
      for (var i = lane; i < KEYS * PIECES; i += 256u) {
        let cell = i / PIECES;
        var a = vec4<f16>();
        var b = vec4<f16>();
        if (cell < count) {
          let value = v_piece(v0 + (first + cell) * p.v.stride.y, i % PIECES);
          a = checked(vec4<f16>(value.a), cell);
          b = checked(vec4<f16>(value.b), cell);
        }
        let at = cell * PITCH + i % PIECES * 2u;
        stage[at] = a;
        stage[at + 1u] = b;
      }
//#end
      let cell0 = first + part * 8u;
      var own: array<f32, 8>;
      var peak = LOWEST;
      for (var j = 0u; j < 8u; j++) {
        own[j] = scores[row * SCORES + part * 8u + j];
        if (cell0 + j < seen) { peak = higher(peak, own[j]); }
      }
      peak = higher(peak, subgroupShuffleXor(peak, 1u));
      peak = higher(peak, subgroupShuffleXor(peak, 2u));
      // The first results of all rows are zero: they need not be rescaled.
      if (peak > most + SLACK || is_nan(peak)) { grows.x = select(2u, 1u, fresh); }
      let growth = workgroupUniformLoad(&grows).x;
      if (growth != 0u) {
        let next = higher(most, peak);
        let shrink = shrunk(most, next);
        most = next;
        total *= shrink;
        if (part == 0u) { shrinks[row] = shrink; }
        if (growth == 2u) {
$rescale
        }
      }
      fresh = false;
      for (var j = 0u; j < 2u; j++) {
        var shares: vec4<f16>;
        for (var i = 0u; i < 4u; i++) {
          let share = f16(select(0.0, weight(own[j * 4u + i] - most), cell0 + j * 4u + i < seen));
          shares[i] = share;
          total += f32(share);
        }
        weights[row * WEIGHTS + part * 2u + j] = shares;
      }
      workgroupBarrier();
      {
        let weight_row = row0 * WEIGHTS;
        let column = side * (QUADS / 2u);
$multiply_values
      }
      let bad = (atomicLoad(&spoilt[0]) >> (part * 8u)) & 255u;
      if (bad != 0u) {
        for (var j = 0u; j < 8u; j++) {
          if (((bad >> j) & 1u) == 1u && cell0 + j < seen) { total = bitcast<f32>(0x7fc00000u | bad); }
        }
      }
    }
  }
  total += subgroupShuffleXor(total, 1u);
  total += subgroupShuffleXor(total, 2u);
  workgroupBarrier();
  if (part == 0u) {
    shrinks[row] = total;
//#if !direct
    if (held[row] == 1u) {
      let r = row_of(row, group);
      $scratch[sums_at(r.x, r.y, group.z) + QUADS] = vec4<f32>(most, total, 0.0, 0.0);
    }
//#end
  }
$store
}
