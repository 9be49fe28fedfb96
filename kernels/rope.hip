// Pairs of dimensions turned by the token's position. A thread a pair, or a dimension that passes through.
#include "args/rope.h"
#include "include/quads.h"
#include "include/rotary.h"

PK_KERNEL(rope_any, 256, rope_args) {
  const Angles angles = angles_of(p, p.x.shape[2]);
  const pk_u32 pairs = pairs_of(angles, p.x.shape[0]), items = p.x.shape[0] - pairs;
  const pk_u64 n = thread_number(256, p.groups_x);
  if (n >= (pk_u64)items * p.x.shape[1] * p.x.shape[2] * p.x.shape[3]) return;
  const Place i = place_in(n, items, p.x);
  const char *x = row_at(p.x, i);
  char *out = row_at(p.out, i);
  turn_item(
      angles, i.i[0], pairs, i.i[2], [&](pk_u32 d) { return read_plain(p.x.type, x + d * p.x.stride[0]); },
      [&](pk_u32 d, float v) { write_plain(p.out.type, out + d * p.out.stride[0], v); });
}
