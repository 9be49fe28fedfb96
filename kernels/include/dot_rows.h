// Rows of weights times few columns in f32.
#pragma once
#include "include/quads.h"
#include "include/teams.h"

template <int TYPE> struct TeamWords {
  typename Weights<TYPE>::Words at[TEAM_ROWS];
};
template <int TYPE> PKD TeamWords<TYPE> fetch_rows(const Rows &rows, pk_u32 u) {
  TeamWords<TYPE> words;
  PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) words.at[r] = Weights<TYPE>::fetch(rows.at[r], u);
  return words;
}

// Group k of column c. What loads columns knows no more of them: there may be a function of each value between.
template <int COLUMNS> PKD pk_f4 column_quad(const Columns<COLUMNS> &x, int c, pk_u32 k) { return quad(x.at[c], k); }

// Adds the products of a unit.
template <int TYPE, int COLUMNS, class X>
PKD void add_unit(const TeamWords<TYPE> &w, pk_u32 u, const X &x, Sums<COLUMNS> &sums) {
  PK_IN_ORDER
  typedef Weights<TYPE> W;
  PK_UNROLL for (int run = 0; run < W::RUNS; run++) {
    const pk_u32 at = W::place(u, run) / 4;
    Run<TYPE> runs[TEAM_ROWS];
    PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) runs[r] = Run<TYPE>::of(w.at[r], u, run);
    PK_UNROLL for (int j = 0; j < W::VALUES / 4; j++) {
      pk_f4 v[TEAM_ROWS];
      PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) v[r] = runs[r].quad(j);
      PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
        const pk_f4 q = column_quad(x, c, at + j);
        PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++)
          PK_UNROLL for (int i = 0; i < 4; i++) sums.at[r][c] = pk_fma(v[r][i], q[i], sums.at[r][c]);
      }
      // Two loads or more at a time: four would take registers for which four waves of sixteen have to go.
      if ((j + 1) * COLUMNS % 2 != 0) continue;
      PK_UNROLL for (int c = 0; c < COLUMNS; c++)
        PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) sums.at[r][c] = pk_here(sums.at[r][c]);
      pk_in_turn();
    }
  }
}

// Adds the products of this wave's units of rows of `width` values.
template <int TYPE, int COLUMNS, class X>
PKD void dot_rows(const Rows &rows, const X &x, pk_u32 width, const Team &team, Sums<COLUMNS> &sums) {
  typedef Weights<TYPE> W;
  const pk_u32 units = width / (W::RUNS * W::VALUES), step = 32 * team.waves;
  pk_u32 u = 32 * team.part + pk_lane();
  TeamWords<TYPE> words = fetch_rows<TYPE>(rows, u < units ? u : 0);
  PK_ROLLED while (u < units) {
    // The next units are on their way while these are multiplied.
    const pk_u32 next = u + step;
    TeamWords<TYPE> later = words;
    if (next < units) later = fetch_rows<TYPE>(rows, next);
    add_unit<TYPE, COLUMNS>(words, u, x, sums);
    words = later;
    u = next;
  }
}
