// Rows written at given indices, a block a row. An index of -1 drops its row; of two rows for one place the later wins.
#include "args/set_rows.h"
#include "include/quads.h"
#include "include/quant_store.h"
#include "include/row_place.h"

const int ROWS_PORT = 1;

PK_KERNEL(set_rows_any, 256, set_rows_args) {
  PK_LDS int hidden;
  Place i = place_of_row(pk_bx(), p.x);
  RowPlace place = place_for<256>(p.common, p.rows, ROWS_PORT, i, p.x.shape[1], p.out.shape[1], &hidden);
  if (!place.exists) return;
  const char *x = row_at(p.x, i);
  char *out = row_of(p.out, place.row, i.i[2], i.i[3]);
  // Whole waves come to every block.
  for (pk_u32 k = pk_tid(); k < p.x.shape[0]; k += 256)
    put_value(p.out, out, k, read_plain(p.x.type, x + k * p.x.stride[0]));
}
