// One value everywhere.
#include "args/fill.h"
#include "include/elements.h"

PK_KERNEL(fill_any, 256, fill_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n < elements(p.out)) store_at(p.out, place_of(n, p.out), p.value);
}
