// act(gate * x) * (up * x) for few columns of f32. A team of waves computes the same rows of both weights.
#include "args/mul_mat_swiglu.h"
#include "include/dot_gated.h"
#include "include/elements.h"
#include "include/mul_mat_any.h"

template <int COLUMNS, class Room> PKD void mul_mat_swiglu(const mul_mat_swiglu_args &p) {
  PK_LDS Room room;
  const Team team = team_of(p.split);
  const pk_u32 first = pk_bx() * rows_of_block(p.split) + team.row;
  const Columns<COLUMNS> x = columns_of<COLUMNS>(p.x);
  auto rows = [&](const View &weight) { return rows_from(weight, first, 0); };
  const float sum = dot_gated<COLUMNS>(p.gate, p.up, rows, x, p.x.shape[0], p.kind, team, room);
  store_sums<COLUMNS>(p.out, first, team, sum);
}

#if PK_PART(vec)
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_swiglu_vec_1, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<1, ExactRoom<1>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_swiglu_vec_2, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<2, ExactRoom<2>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_swiglu_vec_4, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<4, ExactRoom<4>>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(mul_mat_swiglu_vec_8, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<8, ExactRoom<8>>(p); }
#endif

#if PK_PART(q8)
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_swiglu_q8_1, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<1, RoundedRoom<1>>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_swiglu_q8_2, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<2, RoundedRoom<2>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_swiglu_q8_4, TEAM_THREADS, 8, mul_mat_swiglu_args) { mul_mat_swiglu<4, RoundedRoom<4>>(p); }
// VGPRs: at most 168
PK_KERNEL_WAVES(mul_mat_swiglu_q8_8, TEAM_THREADS, 6, mul_mat_swiglu_args) { mul_mat_swiglu<8, RoundedRoom<8>>(p); }
#endif

#if PK_PART(any)
// For weights that are not aligned: a wave an element.
PK_KERNEL(mul_mat_swiglu_any, 256, mul_mat_swiglu_args) {
  pk_u64 n = element_number(p.groups_x);
  if (n >= elements(p.out)) return;
  Place at = place_of(n, p.out);
  const char *column = row_of(p.x, at.i[1], 0, 0);
  auto row = [&](const View &weight) { return row_of(weight, at.i[0], 0, 0); };
  const GateUp sums = dots_any(p.gate, p.up, row, p.x, column, p.x.shape[0]);
  if (pk_lane() == 0) store_at(p.out, at, opening(p.kind, sums.gate) * sums.up);
}
#endif
