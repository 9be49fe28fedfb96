// Rows scaled to Euclidean length one: by 1 / max(length, eps), or by 1 / sqrt(length² + eps).
#include "args/l2_norm.h"
#include "include/rows.h"

// Any layout: a block a row.
PK_KERNEL(l2_norm_any, 256, l2_norm_args) {
  PK_LDS float room[8];
  Place row = place_of_row(pk_bx(), p.out);
  const pk_u32 width = p.out.shape[0];
  float square = 0;
  for (pk_u32 k = pk_tid(); k < width; k += 256) {
    float x = load(p.x, k, row.i[1], row.i[2], row.i[3]);
    square += x * x;
  }
  square = block_sum<256>(square, room);
  float length = pk_sqrt(square);
  float factor = p.form == 0 ? 1.0f / (length < p.eps ? p.eps : length) : pk_rsqrt(square + p.eps);
  for (pk_u32 k = pk_tid(); k < width; k += 256)
    store(p.out, k, row.i[1], row.i[2], row.i[3], load(p.x, k, row.i[1], row.i[2], row.i[3]) * factor);
}
