// Where each row first holds something else than a finite number, a block a row.
#include "args/finite.h"
#include "include/quads.h"

PK_KERNEL(finite_any, 256, finite_args) {
  PK_LDS pk_u32 first[256];
  const pk_u32 lane = pk_tid();
  Place row = place_of_row(pk_bx(), p.out);
  pk_u32 found = 0xffffffffu;
  for (pk_u32 k = lane; k < p.x.shape[0]; k += 256) {
    pk_u32 bits = pk_bits((float)load(p.x, k, row.i[1], row.i[2], row.i[3]));
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (!finite && !(p.minus_infinity && bits == 0xff800000u)) {
      found = k;
      break;
    }
  }
  first[lane] = found;
  for (pk_u32 step = 128; step > 0; step /= 2) {
    pk_sync();
    if (lane < step && first[lane + step] < first[lane]) first[lane] = first[lane + step];
  }
  if (lane == 0) write32(row_of(p.out, row.i[1], row.i[2], row.i[3]), first[0]);
}
