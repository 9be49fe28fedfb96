// Rows of a tile: tokens times the query heads that share a key/value head. 64 rows, a grid of (tiles of tokens, key/value
// heads and batches of their query heads, chunks of cells).
#pragma once
#include "include/attention_chunks.h"

constexpr int TILE_THREADS = 256, TILE_ROWS = 64, TILE_KEYS = 32;

// A row: its token and head, and whether there is one.
struct TileRow {
  pk_u32 token, head;
  bool there;
};
template <class Args> PKD TileRow tile_row(const Args &p, pk_u32 r) {
  pk_u32 sharing = p.q.shape[2] / p.k.shape[2], h = pk_by() % p.batches * p.tile_heads + r % p.tile_heads;
  pk_u32 token = pk_bx() * p.tile_tokens + r / p.tile_heads;
  bool there = r < p.tile_tokens * p.tile_heads && token < p.q.shape[1] && h < sharing;
  return {token, pk_by() / p.batches * sharing + h, there};
}
// A row's queries; rows that are none have another's.
template <class Args> PKD const pk_f4 *queries_of(const Args &p, pk_u32 r) {
  TileRow row = tile_row(p, r);
  pk_u32 token = row.token < p.q.shape[1] ? row.token : p.q.shape[1] - 1;
  pk_u32 head = row.head < p.q.shape[2] ? row.head : p.q.shape[2] - 1;
  return (const pk_f4 *)row_of(p.q, token, head, 0);
}

// The cells that a block attends to in one segment, and which of its tokens they concern.
struct TileRun {
  Segment own;
  pk_u32 begin, stop, start, end;
  // How many cells a token sees; none if it belongs to another segment.
  __device__ pk_u32 seen(pk_u32 cells, pk_u32 token) const {
    return token >= begin && token < stop ? cells_of(cells, own.position, token - own.row) : 0;
  }
  // Where there are no cells, a row is zero: somebody has to say so.
  __device__ bool holds(pk_u32 token, pk_u32 seen) const {
    return token >= begin && token < stop && (start == 0 || start < seen);
  }
};
// The part of entry e of the table; false where it has none. `span` is a chunk's cells.
template <class Args> PKD bool tile_run(const Args &p, pk_u32 e, pk_u32 span, TileRun &run) {
  const bool reports = pk_bx() == 0 && pk_by() == 0 && pk_bz() == 0 && pk_tid() == 0;
  const pk_u32 token0 = pk_bx() * p.tile_tokens, last = token0 + p.tile_tokens;
  Segment s = segment_at(p.segments, e);
  if (!segment_holds(p.common, s, attention_bounds(p), reports) || s.count == 0) return false;
  run.own = s;
  run.begin = s.row > token0 ? s.row : token0;
  run.stop = s.row + s.count < last ? s.row + s.count : last;
  if (run.begin >= run.stop) return false;
  const pk_u32 limit = cells_of(p.k.shape[1], s.position, run.stop - 1 - s.row);
  run.start = pk_bz() * span;
  const pk_u64 end = (pk_u64)run.start + span;
  run.end = end < limit ? (pk_u32)end : limit;
  return true;
}
// Where the cells of a run's slot begin.
template <class Args> PKD const char *cells_at(const Args &p, const View &cache, const TileRun &run) {
  return row_of(cache, 0, pk_by() / p.batches, run.own.slot);
}
// A chunk's cells: all of them where there is one chunk.
template <class Args> PKD pk_u32 tile_span(const Args &p) { return p.chunks == 1 ? 0xffffffffu : span_of(p, longest(p)); }

// Writes four columns of a row's sums, or of its result where there is one chunk.
template <int D, class Args> PKD void keep_quad(const Args &p, TileRow row, pk_u32 quad, pk_f4 sums, float total) {
  if (p.chunks > 1) {
    *(pk_f4 *)(sums_of<D>(p, row.token, row.head, pk_bz()) + quad * 4) = sums;
    return;
  }
  PK_UNROLL for (int i = 0; i < 4; i++) sums[i] = total == 0.0f ? 0.0f : sums[i] / total;
  put_result(p, row.head, row.token, quad, sums);
}
template <int D, class Args> PKD void keep_line(const Args &p, TileRow row, float most, float total) {
  if (p.chunks == 1) return;
  float *line = sums_of<D>(p, row.token, row.head, pk_bz()) + D;
  line[0] = most;
  line[1] = total;
}
