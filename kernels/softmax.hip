// softmax(x·scale + mask) along rows. A cell whose mask or value is minus infinity has the weight 0 by selection; a row
// without others gives zeros.
#include "args/softmax.h"
#include "include/softmax_row.h"

// Any layout: a block a row.
PK_KERNEL(softmax_any, 256, softmax_args) {
  PK_LDS int room[8];
  PK_LDS float sums[8];
  Place row = place_of_row(pk_bx(), p.out);
  Place other = is_bound(p.mask) ? repeated(row, p.mask) : row;
  auto score = [&](pk_u32 k) {
    float x = load(p.x, k, row.i[1], row.i[2], row.i[3]) * p.scale;
    return is_bound(p.mask) ? masked(x, load(p.mask, k, other.i[1], other.i[2], other.i[3])) : x;
  };
  auto put = [&](pk_u32 k, float x) { store(p.out, k, row.i[1], row.i[2], row.i[3], x); };
  softmax_row<256, 1, float>(p.out.shape[0], room, sums, score, put);
}

// Rows of groups of four floats.
template <int LANES, int THREADS, int HELD> PKD void softmax_quads(const softmax_args &p, int *room, float *sums) {
  pk_u32 number = row_number<LANES, THREADS>();
  if (number >= row_count(p.out)) return;
  Place row = place_of_row(number, p.out);
  const char *x = row_at(p.x, row);
  const char *mask = row_at(p.mask, is_bound(p.mask) ? repeated(row, p.mask) : row);
  char *out = row_at(p.out, row);
  auto score = [&](pk_u32 k) {
    pk_f4 v = scaled(quad(x, k), p.scale);
    return is_bound(p.mask) ? each(v, quad(mask, k), [](float a, float m) { return masked(a, m); }) : v;
  };
  auto put = [&](pk_u32 k, pk_f4 v) { put_quad(out, k, v); };
  softmax_row<LANES, HELD, pk_f4>(p.out.shape[0] / 4, room, sums, score, put);
}
// Short ones, a wave a row.
// VGPRs: at most 56
PK_KERNEL(softmax_wave, 128, softmax_args) { softmax_quads<32, 128, 4>(p, nullptr, nullptr); }
// Long ones, a block a row.
// VGPRs: at most 64
PK_KERNEL(softmax_block, 256, softmax_args) {
  PK_LDS int room[8];
  PK_LDS float sums[8];
  softmax_quads<256, 256, 5>(p, room, sums);
}
