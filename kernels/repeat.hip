// A tensor repeated along every dimension to a larger shape.
#include "args/repeat.h"
#include "include/elements.h"

PK_KERNEL(repeat_any, 256, repeat_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  store_at(p.out, i, load_at(p.x, repeated(i, p.x)));
}
