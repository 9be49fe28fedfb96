// A residual sum, and the sum scaled by the root of its mean square and a weight. `a` and `b` may lie on the bytes of the
// results: a thread reads its own items of both before it writes there.
#include "args/add_rms_norm.h"
#include "include/rows.h"

// Any layout: a block a row.
PK_KERNEL(add_rms_norm_any, 256, add_rms_norm_args) {
  PK_LDS float room[8];
  Place row = place_of_row(pk_bx(), p.out);
  auto at = [&](const View &v, pk_u32 k) { return load(v, k, row.i[1], row.i[2], row.i[3]); };
  auto read = [&](pk_u32 k) {
    float sum = at(p.a, k) + at(p.b, k);
    store(p.sum, k, row.i[1], row.i[2], row.i[3], sum);
    return sum;
  };
  auto again = [&](pk_u32 k) { return at(p.sum, k); };
  auto factor = [&](pk_u32 k) { return load(p.weight, k, 0, 0, 0); };
  auto put = [&](pk_u32 k, float x) { store(p.out, k, row.i[1], row.i[2], row.i[3], x); };
  norm_row<256, 1, float>(p.out.shape[0], p.out.shape[0], p.eps, room, read, again, factor, put);
}

// Rows of groups of four floats.
template <int LANES, int THREADS, int HELD> PKD void add_rms_norm_quads(const add_rms_norm_args &p, float *room) {
  pk_u32 number = row_number<LANES, THREADS>();
  if (number >= row_count(p.out)) return;
  Place row = place_of_row(number, p.out);
  const char *a = row_at(p.a, row), *b = row_at(p.b, row);
  char *sum = row_at(p.sum, row), *out = row_at(p.out, row);
  auto read = [&](pk_u32 k) {
    pk_f4 x = plus(quad(a, k), quad(b, k));
    put_quad(sum, k, x);
    return x;
  };
  auto again = [&](pk_u32 k) { return quad(sum, k); };
  auto factor = [&](pk_u32 k) { return quad(p.weight.data, k); };
  auto put = [&](pk_u32 k, pk_f4 x) { put_quad(out, k, x); };
  norm_row<LANES, HELD, pk_f4>(p.out.shape[0] / 4, p.out.shape[0], p.eps, room, read, again, factor, put);
}
// Short ones, a wave a row.
// VGPRs: at most 48
PK_KERNEL(add_rms_norm_wave, 128, add_rms_norm_args) { add_rms_norm_quads<32, 128, 2>(p, nullptr); }
// Long ones, a block a row.
// VGPRs: at most 72
PK_KERNEL(add_rms_norm_block, 256, add_rms_norm_args) {
  PK_LDS float room[8];
  add_rms_norm_quads<256, 256, 5>(p, room);
}
