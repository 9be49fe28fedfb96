// Values times a factor plus a summand. A factor of zero clears whatever was there, NaN included.
#include "args/scale.h"
#include "include/elements.h"

PK_KERNEL(scale_any, 256, scale_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  store_at(p.out, i, p.scale == 0 ? p.bias : load_at(p.x, i) * p.scale + p.bias);
}
