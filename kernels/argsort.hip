// Indices that sort each row: every element counts those before it.
#include "args/argsort.h"
#include "include/elements.h"
#include "include/order.h"

PK_KERNEL(argsort_any, 256, argsort_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.x)) return;
  Place i = place_of(n, p.x);
  const char *row = row_of(p.x, i.i[1], i.i[2], i.i[3]);
  const pk_u32 turned = p.descending ? 0xffffffffu : 0;
  pk_u32 own = order_key(load_at(p.x, i)) ^ turned, rank = 0;
  for (pk_u32 j = 0; j < p.x.shape[0]; j++) {
    pk_u32 other = order_key(read_plain(p.x.type, row + j * p.x.stride[0])) ^ turned;
    rank += other < own || (other == own && j < i.i[0]);
  }
  write32(row_of(p.out, i.i[1], i.i[2], i.i[3]) + rank * p.out.stride[0], i.i[0]);
}
