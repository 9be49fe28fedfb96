// Attention over chosen blocks of the cache. A block of threads computes 256 columns of one head's result for one token.
#include "args/block_attention.h"
#include "include/attention_softmax.h"
#include "include/block.h"
#include "include/quant.h"
#include "include/segments.h"

const int THREADS = 256;
const int SEGMENTS_PORT = 4;
// Mark of an entry without a cell.
const pk_u32 NOWHERE = 0xffffffffu;

// The cell of entry n of a token's list: those of its blocks, then those behind its last whole one.
PKD pk_u32 listed(const block_attention_args &p, pk_u32 n, pk_u32 token, pk_u32 visible) {
  const pk_u32 size = p.block, whole = visible / size, chosen = p.blocks.shape[0] * size;
  if (n < chosen) {
    const pk_i64 block = load_index(p.blocks, n / size, token, 0, 0);
    return block < 0 || block >= whole ? NOWHERE : (pk_u32)block * size + n % size;
  }
  const pk_u32 cell = whole * size + (n - chosen);
  return cell < visible ? cell : NOWHERE;
}

PK_KERNEL(block_attention_any, 256, block_attention_args) {
  PK_LDS pk_u32 cells[THREADS];
  PK_LDS float weights[THREADS];
  PK_LDS float peaks[THREADS / 32];
  PK_LDS float sums[THREADS / 32];
  const pk_u32 lane = pk_tid(), width = p.out.shape[0], tiles = (width + THREADS - 1) / THREADS;
  const pk_u64 number = (pk_u64)pk_by() * p.groups_x + pk_bx();
  if (number >= tiles * (elements(p.out) / width)) return;
  const pk_u64 row = number / tiles;
  const pk_u32 q_head = (pk_u32)(row % p.out.shape[1]), token = (pk_u32)(row / p.out.shape[1]);
  const Bounds bounds = {p.q.shape[1], p.k.shape[3], SEGMENTS_PORT};
  if (!segments_hold_wave(p.common, p.segments, bounds, number == 0)) return;
  const Segment own = segment_of(p.segments, token);
  if (own.count == 0) return;
  // A position beyond the cache must not wrap around.
  const pk_u64 seen = (pk_u64)own.position + (token - own.row) + 1;
  const pk_u32 visible = seen < p.k.shape[1] ? (pk_u32)seen : p.k.shape[1];
  const pk_u32 head = q_head / (p.q.shape[2] / p.k.shape[2]), depth = p.q.shape[0];
  const pk_u32 column0 = (pk_u32)(number % tiles) * THREADS;
  // Threads that have no column of their own share out the cells.
  const pk_u32 columns = width - column0 < THREADS ? width - column0 : THREADS;
  const pk_u32 parts = THREADS / columns, part = lane / columns, column = column0 + lane % columns;
  const pk_u32 entries = p.blocks.shape[0] * p.block + visible % p.block;
  float most = LOWEST, total = 0, sum = 0;
  PK_ROLLED for (pk_u32 first = 0; first < entries; first += THREADS) {
    const pk_u32 here = entries - first < THREADS ? entries - first : THREADS;
    const pk_u32 cell = lane < here ? listed(p, first + lane, token, visible) : NOWHERE;
    cells[lane] = cell;
    pk_sync();
    // A wave reads one key after the other, so that its lanes read neighbours.
    PK_ROLLED for (pk_u32 c = pk_wave(); c < here; c += THREADS / 32) {
      if (cells[c] == NOWHERE) continue;
      const char *key = row_of(p.k, cells[c], head, own.slot);
      float dot = 0;
      for (pk_u32 d = pk_lane(); d < depth; d += 32) dot += load(p.q, d, token, q_head, 0) * pk_element(p.k, key, d);
      dot = pk_wsum(dot);
      if (pk_lane() == 0) weights[c] = dot * p.scale;
    }
    pk_sync();
    const bool shown = cell != NOWHERE;
    const float score = shown ? weights[lane] : LOWEST;
    const float next = higher(most, block_higher<THREADS>(score, peaks)), shrink = shrunk(most, next);
    const float share = shown ? pk_exp(score - next) : 0.0f;
    total = total * shrink + block_sum<THREADS>(share, sums);
    sum *= shrink;
    most = next;
    weights[lane] = share;
    pk_sync();
    if (part < parts)
      PK_ROLLED for (pk_u32 c = part; c < here; c += parts)
        if (cells[c] != NOWHERE) sum += weights[c] * pk_element(p.v, row_of(p.v, cells[c], head, own.slot), column);
    pk_sync();
  }
  weights[lane] = sum;
  pk_sync();
  if (lane >= columns) return;
  for (pk_u32 j = 1; j < parts; j++) sum += weights[j * columns + lane];
  // A row that sees no cell is zero.
  store(p.out, column, q_head, token, 0, total == 0.0f ? 0.0f : sum / total);
}
