// What the experts of each token give, weighted and summed, that of an expert that all use, and the residual; and their sum
// scaled by the root of its mean square and a weight. Rows of groups of four floats.
#include "args/expert_sum_norm.h"
#include "include/expert_sum.h"
#include "include/rows.h"

template <int LANES, int THREADS, int HELD> PKD void expert_sum_norm(const expert_sum_norm_args &p, float *room) {
  const pk_u32 token = row_number<LANES, THREADS>();
  if (token >= row_count(p.out)) return;
  const char *residual = row_of(p.residual, token, 0, 0);
  char *sum = row_of(p.sum, token, 0, 0), *out = row_of(p.out, token, 0, 0);
  auto read = [&](pk_u32 k) {
    const pk_f4 v = plus(quad(residual, k), expert_sum_quad(p, token, k));
    put_quad(sum, k, v);
    return v;
  };
  auto again = [&](pk_u32 k) { return quad(sum, k); };
  auto factor = [&](pk_u32 k) { return quad(p.weight.data, k); };
  auto put = [&](pk_u32 k, pk_f4 v) { put_quad(out, k, v); };
  norm_row<LANES, HELD, pk_f4>(p.out.shape[0] / 4, p.out.shape[0], p.eps, room, read, again, factor, put);
}
// Short ones, a wave a row.
// VGPRs: at most 96
PK_KERNEL(expert_sum_norm_wave, 128, expert_sum_norm_args) { expert_sum_norm<32, 128, 2>(p, nullptr); }
// Long ones, a block a row.
// VGPRs: at most 96
PK_KERNEL(expert_sum_norm_block, 256, expert_sum_norm_args) {
  PK_LDS float room[8];
  expert_sum_norm<256, 256, 3>(p, room);
}
