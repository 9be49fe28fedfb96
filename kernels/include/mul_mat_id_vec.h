// One column at a time, of few: a team of waves computes some rows of the matrix chosen for it. All columns in one launch.
#pragma once
#include "args/mul_mat_id.h"
#include "include/dot_rows_q8.h"

// What a block computes: the column of a slot and token, the matrix chosen for it, and the first row of the team.
struct Choice {
  pk_u32 slot, token, first;
  pk_i64 expert;
};
PKD Choice choice_of(const mul_mat_id_args &p, const Team &team) {
  const pk_u32 slots = p.ids.shape[0], slot = pk_by() % slots, token = pk_by() / slots;
  return {slot, token, pk_bx() * rows_of_block(p.split) + team.row, load_index(p.ids, slot, token, 0, 0)};
}
// Whether there is such a matrix; one thread reports it if not.
PKD bool is_there(const mul_mat_id_args &p, const Choice &c) {
  const bool is = c.expert >= 0 && c.expert < p.weight.shape[2];
  if (!is && pk_bx() == 0 && pk_tid() == 0) report(p.common, 2, c.expert, p.weight.shape[2]);
  return is;
}
PKD Columns<1> chosen_column(const mul_mat_id_args &p, const Choice &c) {
  return {{row_of(p.x, c.slot % p.x.shape[1], c.token, 0)}};
}
PKD void store_chosen(const mul_mat_id_args &p, const Choice &c, const Team &team, float sum) {
  const Own own = own_sum<1>(team);
  const pk_u32 row = c.first + own.row;
  if (own.is && row < p.out.shape[0]) ((float *)row_of(p.out, c.slot, c.token, 0))[row] = sum;
}

template <int TYPE> PKD void mul_mat_id_vec(const mul_mat_id_args &p) {
  PK_LDS SumRoom<1> room;
  const Team team = team_of(p.split);
  const Choice c = choice_of(p, team);
  if (!is_there(p, c)) return;
  Sums<1> sums;
  clear(sums);
  const Rows rows = rows_from(p.weight, c.first, (pk_u32)pk_uniform((int)c.expert));
  dot_rows<TYPE, 1>(rows, chosen_column(p, c), p.x.shape[0], team, sums);
  store_chosen(p, c, team, team_sum(sums, team, room));
}
template <int TYPE> PKD void mul_mat_id_q8(const mul_mat_id_args &p) {
  PK_LDS SumRoom<1> room;
  PK_LDS Rounded<1> rounded;
  const Team team = team_of(p.split);
  const Choice c = choice_of(p, team);
  if (!is_there(p, c)) return;
  Sums<1> sums;
  clear(sums);
  const Rows rows = rows_from(p.weight, c.first, (pk_u32)pk_uniform((int)c.expert));
  dot_rows_q8<TYPE, 1>(rows, chosen_column(p, c), p.x.shape[0], team, rounded, false, sums);
  store_chosen(p, c, team, team_sum(sums, team, room));
}
