// A function of one value, for every type and layout.
#include "args/unary.h"
#include "include/elements.h"
#include "include/functions.h"

PK_KERNEL(unary_any, 256, unary_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  store_at(p.out, i, unary(p.kind, load_at(p.x, i)));
}
