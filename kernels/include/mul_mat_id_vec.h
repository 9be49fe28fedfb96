// One column at a time, of few: a team of waves computes some rows of the matrix chosen for it.
#pragma once
#include "args/mul_mat_id.h"
#include "include/choice.h"
#include "include/dot_rows_q8.h"

template <int TYPE> PKD void mul_mat_id_vec(const mul_mat_id_args &p) {
  PK_LDS SumRoom<1> room;
  const Team team = team_of(p.split);
  const Choice c = choice_of(p, team);
  if (!is_there(p.common, c, p.weight, 2)) return;
  Sums<1> sums;
  clear(sums);
  dot_rows<TYPE, 1>(chosen_rows(p.weight, c), chosen_column(p.x, c), p.x.shape[0], team, sums);
  store_chosen(p.out, c, team, team_sum(sums, team, room));
}
template <int TYPE> PKD void mul_mat_id_q8(const mul_mat_id_args &p) {
  PK_LDS SumRoom<1> room;
  PK_LDS Rounded<1> rounded;
  const Team team = team_of(p.split);
  const Choice c = choice_of(p, team);
  if (!is_there(p.common, c, p.weight, 2)) return;
  Sums<1> sums;
  clear(sums);
  dot_rows_q8<TYPE, 1>(chosen_rows(p.weight, c), chosen_column(p.x, c), p.x.shape[0], team, rounded, false, sums);
  store_chosen(p.out, c, team, team_sum(sums, team, room));
}
