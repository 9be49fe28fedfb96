// One triangle of each square matrix. The rest becomes zero by selection, whatever it held.
#include "args/tri.h"
#include "include/elements.h"

PK_KERNEL(tri_any, 256, tri_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  pk_u32 column = i.i[0], row = i.i[1];
  bool kept;
  switch (p.keep) {
  case 0: kept = column < row; break;
  case 1: kept = column <= row; break;
  case 2: kept = column > row; break;
  default: kept = column >= row;
  }
  store_at(p.out, i, kept ? load_at(p.x, i) : 0.0f);
}
