// Two tensors joined along a dimension.
#include "args/concat.h"
#include "include/elements.h"

PK_KERNEL(concat_any, 256, concat_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place to = place_of(n, p.out), from = to;
  bool second = false;
  PK_UNROLL for (int d = 0; d < 4; d++) {
    if (d == (int)p.dim && to.i[d] >= p.a.shape[d]) {
      second = true;
      from.i[d] -= p.a.shape[d];
    }
  }
  const char *source = second ? address(p.b, from) : address(p.a, from);
  int type = second ? p.b.type : p.a.type;
  char *result = address(p.out, to);
  // Integers stay whole: not all of them are floats.
  if (type == TYPE_I32 && p.out.type == TYPE_I32) write32(result, read32(source));
  else write_number(p.out.type, result, read_number(type, source));
}
