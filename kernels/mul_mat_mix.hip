// Residual streams read as one row, each value through the sigmoid of a product of its own, for up to four columns of f32: the sum
// over streams of sigmoid(weight * silu(x)) * streams. A team of waves computes the same rows of every stream's weight.
#include "args/mul_mat_mix.h"
#include "include/dot_rows_typed.h"
#include "include/elements.h"
#include "include/functions.h"
#include "include/mul_mat_any.h"

// Columns of which the SiLU is multiplied.
template <int COLUMNS> struct OpenedColumns {
  Columns<COLUMNS> raw;
};
template <int COLUMNS> PKD pk_f4 column_quad(const OpenedColumns<COLUMNS> &x, int c, pk_u32 k) {
  return each(column_quad(x.raw, c, k), silu);
}

template <int COLUMNS, class Room> PKD void mul_mat_mix(const mul_mat_mix_args &p) {
  PK_LDS Room room;
  const Team team = team_of(p.split);
  const pk_u32 first = pk_bx() * rows_of_block(p.split) + team.row;
  const OpenedColumns<COLUMNS> x = {columns_of<COLUMNS>(p.x)};
  // The value that this lane opens; those behind the last as that one.
  const Own own = own_sum<COLUMNS>(team);
  const pk_u32 last = p.out.shape[0] - 1, row = first + own.row < last ? first + own.row : last;
  const pk_u32 column = own.column < p.out.shape[1] ? own.column : p.out.shape[1] - 1;
  const char *value = row_of(p.streams, 0, column, 0) + row * p.streams.stride[0];
  float mixed = 0;
  PK_ROLLED for (pk_u32 s = 0; s < p.weight.shape[2]; s++, value += p.streams.stride[1]) {
    Sums<COLUMNS> sums;
    clear(sums);
    dot_typed<COLUMNS>(p.weight.type, rows_from(p.weight, first, s), x, p.x.shape[0], team, room, s > 0, sums);
    const float gate = sigmoid(team_sum(sums, team, room.sums));
    mixed += gate * *(const float *)value;
  }
  store_sums<COLUMNS>(p.out, first, team, mixed);
}

#if PK_PART(vec)
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_mix_vec_1, TEAM_THREADS, 8, mul_mat_mix_args) { mul_mat_mix<1, ExactRoom<1>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_mix_vec_2, TEAM_THREADS, 8, mul_mat_mix_args) { mul_mat_mix<2, ExactRoom<2>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_mix_vec_4, TEAM_THREADS, 8, mul_mat_mix_args) { mul_mat_mix<4, ExactRoom<4>>(p); }
#endif

#if PK_PART(q8)
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_mix_q8_1, TEAM_THREADS, 8, mul_mat_mix_args) { mul_mat_mix<1, RoundedRoom<1>>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_mix_q8_2, TEAM_THREADS, 8, mul_mat_mix_args) { mul_mat_mix<2, RoundedRoom<2>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_mix_q8_4, TEAM_THREADS, 8, mul_mat_mix_args) { mul_mat_mix<4, RoundedRoom<4>>(p); }
#endif

#if PK_PART(any)
// For weights that are not aligned: a wave an element.
// VGPRs: at most 136
PK_KERNEL(mul_mat_mix_any, 256, mul_mat_mix_args) {
  const pk_u64 n = element_number(p.groups_x);
  if (n >= elements(p.out)) return;
  const Place at = place_of(n, p.out);
  const char *column = row_of(p.x, at.i[1], 0, 0);
  float mixed = 0;
  PK_ROLLED for (pk_u32 s = 0; s < p.weight.shape[2]; s++) {
    const char *row = row_of(p.weight, at.i[0], s, 0);
    float sum = 0;
    PK_ROLLED for (pk_u32 k = pk_lane(); k < p.x.shape[0]; k += 32)
      sum = pk_fma(any_element(p.weight, row, k), silu(pk_element(p.x, column, k)), sum);
    mixed += sigmoid(pk_wsum(sum)) * load(p.streams, at.i[0], s, at.i[1], 0);
  }
  if (pk_lane() == 0) store_at(p.out, at, mixed);
}
#endif
