// One to eight columns: a team of waves some rows, for all columns.
#pragma once
#include "args/mul_mat.h"
#include "include/dot_rows_q8.h"

template <int TYPE, int COLUMNS> PKD void mul_mat_vec(const mul_mat_args &p) {
  PK_LDS SumRoom<COLUMNS> room;
  const Team team = team_of(p.split);
  const pk_u32 first = pk_bx() * rows_of_block(p.split) + team.row;
  Sums<COLUMNS> sums;
  clear(sums);
  dot_rows<TYPE, COLUMNS>(rows_from(p.weight, first, 0), columns_of<COLUMNS>(p.x), p.x.shape[0], team, sums);
  store_sums<COLUMNS>(p.out, first, team, team_sum(sums, team, room));
}
template <int TYPE, int COLUMNS> PKD void mul_mat_q8(const mul_mat_args &p) {
  PK_LDS SumRoom<COLUMNS> room;
  PK_LDS Rounded<COLUMNS> rounded;
  const Team team = team_of(p.split);
  const pk_u32 first = pk_bx() * rows_of_block(p.split) + team.row;
  Sums<COLUMNS> sums;
  clear(sums);
  const Rows rows = rows_from(p.weight, first, 0);
  dot_rows_q8<TYPE, COLUMNS>(rows, columns_of<COLUMNS>(p.x), p.x.shape[0], team, rounded, false, sums);
  store_sums<COLUMNS>(p.out, first, team, team_sum(sums, team, room));
}
