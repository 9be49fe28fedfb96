// The product of one row of weights with a column opens the gate for that of another.
#pragma once
#include "include/dot_rows_typed.h"
#include "include/functions.h"

// `rows(weight)` are those of the team in either weight. The lanes of team_sum get the results.
template <int COLUMNS, class Room, class RowsOf>
PKD float dot_gated(const View &gate, const View &up, RowsOf rows, const Columns<COLUMNS> &x, pk_u32 width, pk_u32 kind,
                    const Team &team, Room &room) {
  float opened = 1;
  // One text for both weights.
  PK_ROLLED for (int pass = 0; pass < 2; pass++) {
    const View weight = pass == 0 ? gate : up;
    Sums<COLUMNS> sums;
    clear(sums);
    const bool again = pass > 0 && is_rounding(gate.type);
    dot_typed<COLUMNS>(weight.type, rows(weight), x, width, team, room, again, sums);
    const float sum = team_sum(sums, team, room.sums);
    opened = pass == 0 ? opening(kind, sum) : opened * sum;
  }
  return opened;
}
