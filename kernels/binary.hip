// A function of two values; the second tensor is repeated to the first's shape.
#include "args/binary.h"
#include "include/elements.h"

PK_KERNEL(binary_any, 256, binary_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  float a = load_at(p.a, i), b = load_at(p.b, repeated(i, p.b)), result;
  switch (p.kind) {
  case 0: result = a + b; break;
  case 1: result = a - b; break;
  case 2: result = a * b; break;
  default: result = a / b;
  }
  store_at(p.out, i, result);
}
