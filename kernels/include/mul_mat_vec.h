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
// A block computes rows of several places, `groups_x` blocks apart: columns are rounded once for all of them, if they fit.
template <int TYPE, int COLUMNS> PKD void mul_mat_q8(const mul_mat_args &p) {
  PK_LDS SumRoom<COLUMNS> room;
  PK_LDS Rounded<COLUMNS> rounded;
  const Team team = team_of(p.split);
  const Columns<COLUMNS> x = columns_of<COLUMNS>(p.x);
  const pk_u32 width = p.x.shape[0], units = units_of<TYPE>(width);
  const pk_u32 height = p.weight.shape[1], step = rows_of_block(p.split) * p.groups_x;
  pk_u32 block = pk_bx() * rows_of_block(p.split);
  Rows rows = rows_from(p.weight, block + team.row, 0);
  TeamUnits<TYPE> words = fetch_turn<TYPE>(rows, first_unit(team), units);
  // Nobody has used workgroup memory yet, so there is one barrier less than where values are rounded again.
  round_columns<COLUMNS>(x, 0, width < rounded_values(COLUMNS) ? width : rounded_values(COLUMNS), rounded);
  pk_sync();
  bool is_rounded = true;
  PK_ROLLED while (block < height) {
    const pk_u32 first = block + team.row;
    Sums<COLUMNS> sums;
    clear(sums);
    dot_rows_q8<TYPE, COLUMNS>(rows, x, width, team, rounded, is_rounded, words, sums);
    // The next rows are on their way while these are summed up.
    block += step;
    if (block < height) {
      rows = rows_from(p.weight, block + team.row, 0);
      words = fetch_turn<TYPE>(rows, first_unit(team), units);
    }
    store_sums<COLUMNS>(p.out, first, team, team_sum(sums, team, room));
    is_rounded = width <= rounded_values(COLUMNS);
  }
}
