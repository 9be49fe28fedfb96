// A layer's output added to residual streams by shares, and each stream scaled by the root of its mean square and a weight.
// `x` may lie on the bytes of a result: a thread reads its own items of it before it writes there.
#include "args/combine_norm.h"
#include "include/functions.h"
#include "include/rows.h"

PKD float share_of(const combine_norm_args &p, Place row) {
  return p.gain * sigmoid(load(p.shares, 0, row.i[1], row.i[2], row.i[3]));
}

// Any layout: a block a row.
PK_KERNEL(combine_norm_any, 256, combine_norm_args) {
  PK_LDS float room[8];
  const Place row = place_of_row(pk_bx(), p.out);
  const float share = share_of(p, row);
  auto at = [&](const View &v, pk_u32 k) { return load(v, k, row.i[1], row.i[2], row.i[3]); };
  auto read = [&](pk_u32 k) {
    const float sum = at(p.x, k) + share * at(p.y, k);
    store(p.sum, k, row.i[1], row.i[2], row.i[3], sum);
    return sum;
  };
  auto again = [&](pk_u32 k) { return at(p.sum, k); };
  auto factor = [&](pk_u32 k) { return p.factor * load(p.weight, k, row.i[1], 0, 0); };
  auto put = [&](pk_u32 k, float x) { store(p.out, k, row.i[1], row.i[2], row.i[3], x); };
  norm_row<256, 1, float>(p.out.shape[0], p.out.shape[0], p.eps, room, read, again, factor, put);
}

// Rows of groups of four floats.
template <int LANES, int THREADS, int HELD> PKD void combine_norm_quads(const combine_norm_args &p, float *room) {
  const pk_u32 number = row_number<LANES, THREADS>();
  if (number >= row_count(p.out)) return;
  const Place row = place_of_row(number, p.out);
  const float share = share_of(p, row);
  const char *x = row_at(p.x, row), *y = row_at(p.y, row), *weight = row_of(p.weight, row.i[1], 0, 0);
  char *sum = row_at(p.sum, row), *out = row_at(p.out, row);
  auto read = [&](pk_u32 k) {
    const pk_f4 v = plus(quad(x, k), scaled(quad(y, k), share));
    put_quad(sum, k, v);
    return v;
  };
  auto again = [&](pk_u32 k) { return quad(sum, k); };
  auto factor = [&](pk_u32 k) { return scaled(quad(weight, k), p.factor); };
  auto put = [&](pk_u32 k, pk_f4 v) { put_quad(out, k, v); };
  norm_row<LANES, HELD, pk_f4>(p.out.shape[0] / 4, p.out.shape[0], p.eps, room, read, again, factor, put);
}
// Short ones, a wave a row.
// VGPRs: at most 64
PK_KERNEL(combine_norm_wave, 128, combine_norm_args) { combine_norm_quads<32, 128, 2>(p, nullptr); }
// Long ones, a block a row.
// VGPRs: at most 72
PK_KERNEL(combine_norm_block, 256, combine_norm_args) {
  PK_LDS float room[8];
  combine_norm_quads<256, 256, 5>(p, room);
}
