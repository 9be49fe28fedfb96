// Values limited to a range; NaN stays NaN.
#include "args/clamp.h"
#include "include/elements.h"

PK_KERNEL(clamp_any, 256, clamp_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  float x = load_at(p.x, i);
  if (!pk_is_nan(x)) x = x < p.min ? p.min : x > p.max ? p.max : x;
  store_at(p.out, i, x);
}
