// silu(gate * x) * (up * x) for few columns of f32, with a pair of matrices chosen for each column. A team of waves computes
// the same rows of both weights.
#include "args/mul_mat_id_swiglu.h"
#include "include/choice.h"
#include "include/dot_gated.h"
#include "include/elements.h"
#include "include/mul_mat_any.h"

template <class Room> PKD void mul_mat_id_swiglu(const mul_mat_id_swiglu_args &p) {
  PK_LDS Room room;
  const Team team = team_of(p.split);
  const Choice c = choice_of(p, team);
  if (!is_there(p.common, c, p.gate, 3)) return;
  auto rows = [&](const View &weight) { return chosen_rows(weight, c); };
  store_chosen(p.out, c, team,
               dot_gated<1>(p.gate, p.up, rows, chosen_column(p.x, c), p.x.shape[0], 0, team, room));
}

// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mat_id_swiglu_vec, TEAM_THREADS, 8, mul_mat_id_swiglu_args) { mul_mat_id_swiglu<ExactRoom<1>>(p); }
// The column rounded to eight bits.
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_id_swiglu_q8, TEAM_THREADS, 8, mul_mat_id_swiglu_args) { mul_mat_id_swiglu<RoundedRoom<1>>(p); }

// For weights that are not aligned: a wave an element.
PK_KERNEL(mul_mat_id_swiglu_any, 256, mul_mat_id_swiglu_args) {
  const pk_u64 n = element_number(p.groups_x);
  if (n >= elements(p.out)) return;
  const Place at = place_of(n, p.out);
  const pk_u32 o = at.i[0], slot = at.i[1], token = at.i[2];
  const pk_i64 expert = load_index(p.ids, slot, token, 0, 0);
  if (expert < 0 || expert >= p.gate.shape[2]) {
    if (pk_lane() == 0) report(p.common, 3, expert, p.gate.shape[2]);
    return;
  }
  const char *column = row_of(p.x, slot % p.x.shape[1], token, 0);
  auto row = [&](const View &weight) { return row_of(weight, o, (pk_u32)expert, 0); };
  const GateUp sums = dots_any(p.gate, p.up, row, p.x, column, p.x.shape[0]);
  if (pk_lane() == 0) store_at(p.out, at, silu(sums.gate) * sums.up);
}
