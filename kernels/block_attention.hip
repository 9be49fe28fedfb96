// Attention over chosen blocks of the cache. A block of threads computes 256 columns of one head's result for one token; where
// there are few tokens, for a chunk of its list of cells, and chunks meet in a launch of their own.
#include "args/block_attention.h"
#include "include/attention_softmax.h"
#include "include/block.h"
#include "include/elements.h"
#include "include/quant.h"
#include "include/segments.h"

const int THREADS = 256;
const int SEGMENTS_PORT = 4;
// Values of a thread that are on their way together.
const pk_u32 FLIGHT = 8;
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

// Entries of a chunk.
const pk_u32 SPAN = 64;

// A token's place in the cache: its segment, which cells it sees, and how many entries its list has.
struct Listing {
  Segment own;
  pk_u32 visible, entries;
};
// False where no segment holds the token.
PKD bool listing_of(const block_attention_args &p, pk_u32 token, bool reports, Listing &listing) {
  const Bounds bounds = {p.q.shape[1], p.k.shape[3], SEGMENTS_PORT};
  if (!segments_hold_wave(p.common, p.segments, bounds, reports)) return false;
  listing.own = segment_of(p.segments, token);
  if (listing.own.count == 0) return false;
  // A position beyond the cache must not wrap around.
  const pk_u64 seen = (pk_u64)listing.own.position + (token - listing.own.row) + 1;
  listing.visible = seen < p.k.shape[1] ? (pk_u32)seen : p.k.shape[1];
  listing.entries = p.blocks.shape[0] * p.block + listing.visible % p.block;
  return true;
}
// Where a chunk's sums lie: a number for each column, then the largest score and the sum of weights.
PKD float *sums_of(const block_attention_args &p, pk_u32 head, pk_u32 token, pk_u32 chunk) {
  const pk_u64 row = (pk_u64)token * p.out.shape[1] + head;
  return (float *)p.common.scratch + (row * p.chunks + chunk) * (p.out.shape[0] + 2);
}

// All entries, or those of a chunk, for the columns of a tile.
template <bool SPLIT>
PKD void attend_blocks(const block_attention_args &p, pk_u32 q_head, pk_u32 token, pk_u32 tile, pk_u32 chunk, bool reports) {
  PK_LDS pk_u32 cells[THREADS];
  PK_LDS float weights[THREADS];
  PK_LDS float peaks[THREADS / 32];
  PK_LDS float sums[THREADS / 32];
  Listing listing;
  if (!listing_of(p, token, reports, listing)) return;
  const pk_u32 lane = pk_tid(), width = p.out.shape[0], visible = listing.visible, slot = listing.own.slot;
  const pk_u32 head = q_head / (p.q.shape[2] / p.k.shape[2]), depth = p.q.shape[0], column0 = tile * THREADS;
  // Threads that have no column of their own share out the cells.
  const pk_u32 columns = width - column0 < THREADS ? width - column0 : THREADS;
  const pk_u32 parts = THREADS / columns, part = lane / columns, column = column0 + lane % columns;
  const pk_u32 begin = SPLIT ? chunk * SPAN : 0;
  const pk_u32 end = SPLIT && begin + SPAN < listing.entries ? begin + SPAN : listing.entries;
  float most = LOWEST, total = 0, sum = 0;
  PK_ROLLED for (pk_u32 first = begin; first < end; first += THREADS) {
    const pk_u32 here = end - first < THREADS ? end - first : THREADS;
    const pk_u32 cell = lane < here ? listed(p, first + lane, token, visible) : NOWHERE;
    cells[lane] = cell;
    pk_sync();
    // A wave reads one key after the other, so that its lanes read neighbours.
    PK_ROLLED for (pk_u32 c = pk_wave(); c < here; c += THREADS / 32) {
      if (cells[c] == NOWHERE) continue;
      const char *key = row_of(p.k, cells[c], head, slot);
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
      PK_ROLLED for (pk_u32 c0 = part; c0 < here; c0 += FLIGHT * parts) {
        // Values of several cells are on their way together. What a missing one holds cannot matter.
        float value[FLIGHT];
        PK_UNROLL for (pk_u32 j = 0; j < FLIGHT; j++) {
          const pk_u32 c = c0 + j * parts, at = c < here ? cells[c] : NOWHERE;
          value[j] = at == NOWHERE ? 0.0f : pk_element(p.v, row_of(p.v, at, head, slot), column);
        }
        PK_UNROLL for (pk_u32 j = 0; j < FLIGHT; j++)
          if (c0 + j * parts < here) sum += weights[c0 + j * parts] * value[j];
      }
    pk_sync();
  }
  weights[lane] = sum;
  pk_sync();
  if (lane >= columns) return;
  for (pk_u32 j = 1; j < parts; j++) sum += weights[j * columns + lane];
  if constexpr (SPLIT) {
    float *line = sums_of(p, q_head, token, chunk);
    line[column] = sum;
    if (column == 0) line[width] = most, line[width + 1] = total;
  } else {
    // A row that sees no cell is zero.
    store(p.out, column, q_head, token, 0, total == 0.0f ? 0.0f : sum / total);
  }
}

PK_KERNEL(block_attention_any, 256, block_attention_args) {
  const pk_u32 width = p.out.shape[0], tiles = (width + THREADS - 1) / THREADS;
  const pk_u64 number = (pk_u64)pk_by() * p.groups_x + pk_bx();
  if (number >= tiles * (elements(p.out) / width)) return;
  const pk_u64 row = number / tiles;
  attend_blocks<false>(
    p, (pk_u32)(row % p.out.shape[1]), (pk_u32)(row / p.out.shape[1]), (pk_u32)(number % tiles), 0, number == 0);
}

// A block a chunk (x), head and tile of columns (y), and token (z).
PK_KERNEL(block_attention_split, 256, block_attention_args) {
  const pk_u32 heads = p.out.shape[1];
  const bool reports = pk_bx() == 0 && pk_by() == 0 && pk_bz() == 0;
  attend_blocks<true>(p, pk_by() % heads, pk_bz(), pk_by() / heads, pk_bx(), reports);
}
PK_KERNEL(block_attention_merge, 256, block_attention_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  const Place at = place_of(n < elements(p.out) ? n : 0, p.out);
  const pk_u32 column = at.i[0], head = at.i[1], token = at.i[2], width = p.out.shape[0];
  Listing listing;
  if (!listing_of(p, token, false, listing) || n >= elements(p.out)) return;
  float most = LOWEST, total = 0, sum = 0;
  for (pk_u32 c = 0; c < p.chunks; c++) most = higher(most, sums_of(p, head, token, c)[width]);
  for (pk_u32 c = 0; c < p.chunks; c++) {
    const float *line = sums_of(p, head, token, c);
    const float share = shrunk(line[width], most);
    sum += line[column] * share;
    total += line[width + 1] * share;
  }
  store(p.out, column, head, token, 0, total == 0.0f ? 0.0f : sum / total);
}
