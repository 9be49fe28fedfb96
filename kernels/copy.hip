// Elements in order from one type, shape and layout to another.
#include "args/copy.h"
#include "include/quads.h"
#include "include/any_element.h"
#include "include/quant_store.h"

// A thread an element; a wave a block where the result consists of blocks.
PK_KERNEL(copy_any, 256, copy_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place from = place_of(n, p.x), to = place_of(n, p.out);
  char *row = row_at(p.out, to);
  // Integers stay whole: not all of them are floats.
  if (p.x.type == TYPE_I32 && p.out.type == TYPE_I32) write32(address(p.out, to), read32(address(p.x, from)));
  else put_value(p.out, row, to.i[0], any_element(p.x, row_at(p.x, from), from.i[0]));
}

// Rows of groups of four floats, equal shapes, to floats or halves. A thread a group.
// VGPRs: at most 24
PK_KERNEL(copy_rows, 256, copy_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.x) / 4) return;
  Place i = place_of_quad(n, p.x);
  pk_f4 v = quad(row_at(p.x, i), i.i[0]);
  char *row = row_at(p.out, i);
  if (p.out.type == TYPE_F32) {
    put_quad(row, i.i[0], v);
    return;
  }
  pk_u32 *halves = (pk_u32 *)row + 2 * i.i[0];
  halves[0] = pk_to_f16(v[0]) | (pk_u32)pk_to_f16(v[1]) << 16;
  halves[1] = pk_to_f16(v[2]) | (pk_u32)pk_to_f16(v[3]) << 16;
}
