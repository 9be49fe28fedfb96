// A vector per batch entry becomes a diagonal matrix.
#include "args/diag.h"
#include "include/elements.h"

PK_KERNEL(diag_any, 256, diag_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  store_at(p.out, i, i.i[0] == i.i[1] ? load(p.x, i.i[0], 0, i.i[2], i.i[3]) : 0.0f);
}
