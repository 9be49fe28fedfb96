// Rows scaled by the root of their mean square, then by a weight if there is one.
#include "args/rms_norm.h"
#include "include/rows.h"

// Any layout: a block a row.
PK_KERNEL(rms_norm_any, 256, rms_norm_args) {
  PK_LDS float room[8];
  Place row = place_of_row(pk_bx(), p.out);
  auto read = [&](pk_u32 k) { return load(p.x, k, row.i[1], row.i[2], row.i[3]); };
  auto factor = [&](pk_u32 k) { return is_bound(p.weight) ? load(p.weight, k, 0, 0, 0) : 1.0f; };
  auto put = [&](pk_u32 k, float x) { store(p.out, k, row.i[1], row.i[2], row.i[3], x); };
  norm_row<256, 1, float>(p.out.shape[0], p.out.shape[0], p.eps, room, read, read, factor, put);
}

// Rows of groups of four floats.
template <int LANES, int THREADS, int HELD> PKD void rms_norm_quads(const rms_norm_args &p, float *room) {
  pk_u32 number = row_number<LANES, THREADS>();
  if (number >= row_count(p.out)) return;
  Place row = place_of_row(number, p.out);
  const char *x = row_at(p.x, row);
  char *out = row_at(p.out, row);
  auto read = [&](pk_u32 k) { return quad(x, k); };
  auto factor = [&](pk_u32 k) { return is_bound(p.weight) ? quad(p.weight.data, k) : quad_of(1.0f); };
  auto put = [&](pk_u32 k, pk_f4 v) { put_quad(out, k, v); };
  norm_row<LANES, HELD, pk_f4>(p.out.shape[0] / 4, p.out.shape[0], p.eps, room, read, read, factor, put);
}
// Short ones, a wave a row.
// VGPRs: at most 48
PK_KERNEL(rms_norm_wave, 128, rms_norm_args) { rms_norm_quads<32, 128, 2>(p, nullptr); }
// Long ones, a block a row.
// VGPRs: at most 64
PK_KERNEL(rms_norm_block, 256, rms_norm_args) {
  PK_LDS float room[8];
  rms_norm_quads<256, 256, 5>(p, room);
}
