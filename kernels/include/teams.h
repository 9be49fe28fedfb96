// How the waves of a block share rows of weights: a team of waves computes some rows, each wave a part of every row's units.
// The order in which products are added depends on the rows' length and the team alone: a column becomes what it would be
// alone, however many there are.
#pragma once
#include "include/weights.h"

const int TEAM_WAVES = 16, TEAM_THREADS = 32 * TEAM_WAVES;
// Rows of a team.
const int TEAM_ROWS = 2;

struct Team {
  // Waves of a team, and which of them this is.
  pk_u32 waves, part;
  // The first row of the team, counted from the first of the block.
  pk_u32 row;
};
// Teams have 1, 2, 4, 8 or 16 waves. The first weights would wait for a division.
PKD pk_u32 team_shift(pk_u32 waves) { return (waves > 1) + (waves > 2) + (waves > 4) + (waves > 8); }
PKD Team team_of(pk_u32 waves) {
  const pk_u32 wave = (pk_u32)pk_uniform(pk_wave());
  return {waves, wave & (waves - 1), (wave >> team_shift(waves)) * TEAM_ROWS};
}
// Rows of a block.
PKD pk_u32 rows_of_block(pk_u32 waves) { return (TEAM_WAVES >> team_shift(waves)) * TEAM_ROWS; }

// The rows of a team; those behind the last as that one.
struct Rows {
  WeightRow at[TEAM_ROWS];
};
PKD Rows rows_from(const View &weight, pk_u32 first, pk_u32 i2) {
  Rows rows;
  PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) {
    const pk_u32 row = first + r, last = weight.shape[1] - 1;
    rows.at[r] = weight_row(weight, row < last ? row : last, i2, 0);
  }
  return rows;
}
// Some columns of f32; those behind the last as that one.
template <int COLUMNS> struct Columns {
  const char *at[COLUMNS];
};
template <int COLUMNS> PKD Columns<COLUMNS> columns_of(const View &x) {
  Columns<COLUMNS> columns;
  PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
    const pk_u32 column = c, last = x.shape[1] - 1;
    columns.at[c] = row_of(x, column < last ? column : last, 0, 0);
  }
  return columns;
}

template <int COLUMNS> struct Sums {
  float at[TEAM_ROWS][COLUMNS];
};
template <int COLUMNS> PKD void clear(Sums<COLUMNS> &sums) {
  PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++)
    PK_UNROLL for (int c = 0; c < COLUMNS; c++) sums.at[r][c] = 0;
}
// Workgroup memory to add the sums of a team up.
template <int COLUMNS> struct SumRoom {
  float at[TEAM_WAVES][TEAM_ROWS * COLUMNS];
};
// The sums of a team: lane r * COLUMNS + c of its first wave gets that of row r and column c.
template <int COLUMNS> PKD float team_sum(Sums<COLUMNS> &sums, const Team &team, SumRoom<COLUMNS> &room) {
  const int lane = pk_lane();
  float own = 0;
  PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) {
    PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
      const float sum = pk_wsum(sums.at[r][c]);
      if (lane == r * COLUMNS + c) own = sum;
    }
  }
  if (team.waves == 1) return own;
  const int wave = pk_wave();
  pk_sync();
  if (lane < TEAM_ROWS * COLUMNS) room.at[wave][lane] = own;
  pk_sync();
  if (team.part > 0 || lane >= TEAM_ROWS * COLUMNS) return own;
  for (pk_u32 i = 1; i < team.waves; i++) own += room.at[wave + i][lane];
  return own;
}
// Whether this lane has a sum, and its row in the team and column.
struct Own {
  pk_u32 row, column;
  bool is;
};
template <int COLUMNS> PKD Own own_sum(const Team &team) {
  const pk_u32 lane = pk_lane();
  return {lane / COLUMNS, lane % COLUMNS, team.part == 0 && lane < TEAM_ROWS * COLUMNS};
}
// Stores the sums of a team whose first row is `first`.
template <int COLUMNS> PKD void store_sums(const View &out, pk_u32 first, const Team &team, float sum) {
  const Own own = own_sum<COLUMNS>(team);
  const pk_u32 row = first + own.row;
  if (own.is && row < out.shape[0] && own.column < out.shape[1]) ((float *)row_of(out, own.column, 0, 0))[row] = sum;
}
