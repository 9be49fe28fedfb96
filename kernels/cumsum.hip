// The running sum along each row: a block a row, in steps of 256 elements.
#include "args/cumsum.h"
#include "include/quads.h"

PK_KERNEL(cumsum_any, 256, cumsum_args) {
  PK_LDS float room[8];
  const int lane = pk_lane(), wave = pk_wave();
  Place row = place_of_row(pk_bx(), p.out);
  float before = 0;
  for (pk_u32 start = 0; start < p.out.shape[0]; start += 256) {
    pk_u32 k = start + pk_tid();
    bool inside = k < p.out.shape[0];
    float sum = inside ? load(p.x, k, row.i[1], row.i[2], row.i[3]) : 0.0f;
    PK_UNROLL for (int step = 1; step < 32; step *= 2) {
      float other = pk_shuffle(sum, lane - step);
      if (lane >= step) sum += other;
    }
    if (lane == 31) room[wave] = sum;
    pk_sync();
    float all = 0;
    PK_UNROLL for (int w = 0; w < 8; w++) {
      if (w == wave) sum += all;
      all += room[w];
    }
    if (inside) store(p.out, k, row.i[1], row.i[2], row.i[3], before + sum);
    before += all;
    // The waves' sums have been read by all.
    pk_sync();
  }
}
