// Rows of a table, chosen by index.
#include "args/get_rows.h"
#include "include/quads.h"
#include "include/any_element.h"
#include "include/quant_store.h"

const int ROWS_PORT = 1;

// The row of the table for a row of the result; false where there is none.
PKD bool find_row(const get_rows_args &p, Place i, bool reports, pk_u32 &row) {
  pk_i64 index = load_index(p.rows, i.i[1], i.i[2], i.i[3], 0);
  if (index >= 0 && index < (pk_i64)p.table.shape[1]) {
    row = (pk_u32)index;
    return true;
  }
  if (reports) report(p.common, ROWS_PORT, index, p.table.shape[1]);
  return false;
}

// A thread an element.
PK_KERNEL(get_rows_any, 256, get_rows_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  pk_u32 row;
  if (!find_row(p, i, i.i[0] == 0, row)) return;
  const char *source = row_of(p.table, row, i.i[2], i.i[3]);
  char *result = address(p.out, i);
  // Integers stay whole: not all of them are floats.
  if (p.table.type == TYPE_I32 && p.out.type == TYPE_I32) write32(result, read32(source + i.i[0] * p.table.stride[0]));
  else write_number(p.out.type, result, any_element(p.table, source, i.i[0]));
}
