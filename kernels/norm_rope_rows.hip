// A norm per head, rotary embedding, and the heads of a token side by side in a row written at a given index. An index of
// -1 drops its row; of two rows for one place the later wins.
#include "args/norm_rope_rows.h"
#include "include/heads.h"
#include "include/quant_store.h"
#include "include/row_place.h"

const int ROWS_PORT = 4;

PKD RowPlace place_of_token(const norm_rope_rows_args &p, pk_u32 token, int *hidden) {
  Place i = {{0, token, 0, 0}};
  return place_for<HEAD_THREADS>(p.common, p.rows, ROWS_PORT, i, p.x.shape[2], p.out.shape[1], hidden);
}

// Any layout, a block a token. Blocks of the row may span heads: scratch memory takes the row first.
PK_KERNEL(norm_rope_rows_any, 128, norm_rope_rows_args) {
  PK_LDS float room[HEAD_WAVES];
  PK_LDS int hidden;
  const pk_u32 token = pk_bx(), width = p.x.shape[0], all = p.out.shape[0];
  RowPlace place = place_of_token(p, token, &hidden);
  if (!place.exists) return;
  float *row = (float *)p.common.scratch + (pk_u64)token * all;
  const Angles angles = angles_of(p, p.x.shape[2]);
  for (pk_u32 h = 0; h < p.x.shape[1]; h++) {
    float *head = row + h * width;
    turn_head(p, angles, {{0, h, token, 0}}, room, [&](pk_u32 d, float v) { head[d] = v; });
    // The whole head is there, and the sums have been read.
    pk_sync();
  }
  char *out = row_of(p.out, place.row, 0, 0);
  // Whole waves come to every block.
  for (pk_u32 k = pk_tid(); k < all; k += HEAD_THREADS) put_value(p.out, out, k, row[k]);
}

// Packed heads of groups of 32 floats, a block a head.
// VGPRs: at most 48
PK_KERNEL(norm_rope_rows_heads, 128, norm_rope_rows_args) {
  PK_LDS float head[MOST_HEAD];
  PK_LDS float room[HEAD_WAVES];
  PK_LDS int hidden;
  Place i = place_of_row(pk_bx(), p.x);
  RowPlace place = place_of_token(p, i.i[2], &hidden);
  if (!place.exists) return;
  turn_quads(p, angles_of(p, p.x.shape[2]), i, head, room, [&](pk_u32 d, float v) { head[d] = v; });
  pk_sync();
  char *out = row_of(p.out, place.row, 0, 0);
  const pk_u32 first = i.i[1] * p.x.shape[0];
  for (pk_u32 k = pk_tid(); k < p.x.shape[0]; k += HEAD_THREADS) put_value(p.out, out, first + k, head[k]);
}
