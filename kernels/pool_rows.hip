// Means of rows of a cache, normed, turned, and written as rows of another at given indices. An index of -1 drops its mean; of
// two means for one place the later wins.
#include "args/pool_rows.h"
#include "include/heads.h"
#include "include/quant_store.h"
#include "include/row_place.h"

const int CELLS_PORT = 1, ROWS_PORT = 5;

// The row of the cache that is member j of mean t; the first where there is none.
PKD pk_u32 member(const pool_rows_args &p, pk_u32 j, pk_u32 t, bool reports) {
  const pk_i64 index = load_index(p.cells, j, t, 0, 0);
  if (index >= 0 && index < (pk_i64)p.cache.shape[1]) return (pk_u32)index;
  if (reports) report(p.common, CELLS_PORT, index, p.cache.shape[1]);
  return 0;
}

// Rows of at most MOST_HEAD values, a multiple of 32, a block a mean.
// VGPRs: at most 48
PK_KERNEL(pool_rows_heads, 128, pool_rows_args) {
  PK_LDS float mean[MOST_HEAD];
  PK_LDS float room[HEAD_WAVES];
  PK_LDS int hidden;
  const pk_u32 t = pk_bx(), width = p.cache.shape[0], tokens = p.cells.shape[1], block = p.cells.shape[0];
  // A mean that is dropped has members all the same.
  for (pk_u32 j = pk_tid(); j < block; j += HEAD_THREADS) member(p, j, t, true);
  const Place i = {{0, t, 0, 0}};
  const RowPlace place = place_for<HEAD_THREADS>(p.common, p.rows, ROWS_PORT, i, tokens, p.out.shape[1], &hidden);
  if (!place.exists) return;
  for (pk_u32 d = pk_tid(); d < width; d += HEAD_THREADS) {
    float sum = 0;
    for (pk_u32 j = 0; j < block; j++) sum += load(p.cache, d, member(p, j, t, false), 0, 0);
    mean[d] = sum * p.scale;
  }
  // A pair is read and written by one thread, behind the barrier of the norm's sum.
  auto x = [&](pk_u32 d) { return mean[d]; };
  turn_values(p, angles_of(p, tokens), width, t, x, room, [&](pk_u32 d, float v) { mean[d] = v; });
  pk_sync();
  char *out = row_of(p.out, place.row, 0, 0);
  for (pk_u32 k = pk_tid(); k < width; k += HEAD_THREADS) put_value(p.out, out, k, mean[k]);
}
