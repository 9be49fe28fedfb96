// A norm per head, then pairs of dimensions turned by the token's position. A block a head.
#include "args/norm_rope.h"
#include "include/heads.h"

// Any layout.
PK_KERNEL(norm_rope_any, 128, norm_rope_args) {
  PK_LDS float room[HEAD_WAVES];
  Place i = place_of_row(pk_bx(), p.x);
  turn_head(p, angles_of(p, p.x.shape[2]), i, room, [&](pk_u32 d, float v) { store(p.out, d, i.i[1], i.i[2], 0, v); });
}

// Packed rows of groups of four floats.
// VGPRs: at most 48
PK_KERNEL(norm_rope_rows, 128, norm_rope_args) {
  PK_LDS float head[MOST_HEAD];
  PK_LDS float room[HEAD_WAVES];
  Place i = place_of_row(pk_bx(), p.x);
  float *out = (float *)row_at(p.out, i);
  turn_quads(p, angles_of(p, p.x.shape[2]), i, head, room, [&](pk_u32 d, float v) { out[d] = v; });
}
