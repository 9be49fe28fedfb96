// The sum of each row, a block a row. Rows may cancel, and then little but rounding would be left: sums have twice the
// precision.
#include "args/sum_rows.h"
#include "include/quads.h"

PK_KERNEL(sum_rows_any, 256, sum_rows_args) {
  PK_LDS double partial[256];
  const pk_u32 lane = pk_tid();
  Place row = place_of_row(pk_bx(), p.out);
  double sum = 0;
  for (pk_u32 k = lane; k < p.x.shape[0]; k += 256) sum += (double)load(p.x, k, row.i[1], row.i[2], row.i[3]);
  partial[lane] = sum;
  for (pk_u32 step = 128; step > 0; step /= 2) {
    pk_sync();
    if (lane < step) partial[lane] += partial[lane + step];
  }
  if (lane == 0) store(p.out, 0, row.i[1], row.i[2], row.i[3], (float)partial[0]);
}
