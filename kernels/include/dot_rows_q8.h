// Rows of quantised weights times few columns, of which every 32 values are rounded to eight bits in workgroup memory.
#pragma once
#include "include/dot_rows.h"

// 32 rounded values: a step, and the sums of the levels of both halves, sixteen bits each.
struct RoundedLine {
  float step;
  pk_u32 sums;
};
// Values of a row that are rounded at a time. A multiple of what a team of up to four waves takes in one turn, so that the
// order of additions is the same for any of these sizes.
PKD constexpr pk_u32 rounded_values(int columns) { return columns == 1 ? 8192 : 4096; }
template <int COLUMNS> struct Rounded {
  pk_u32 levels[COLUMNS][rounded_values(COLUMNS) / 4];
  RoundedLine lines[COLUMNS][rounded_values(COLUMNS) / 32];
};

PKD int larger_bits(int a, int b) { return a > b ? a : b; }
// Four values by one thread of a block, eight threads a line.
PKD void round_quad(pk_f4 v, bool own, pk_u32 &levels, RoundedLine &line) {
  PK_IN_ORDER
  int most = 0;
  // Bits order sizes, with infinities and NaN above all.
  PK_UNROLL for (int i = 0; i < 4; i++) most = larger_bits(most, (int)(pk_bits(v[i]) & 0x7fffffffu));
  most = larger_bits(most, pk_xor<1>(most));
  most = larger_bits(most, pk_xor<2>(most));
  most = larger_bits(most, pk_xor<4>(most));
  const float size = pk_float((pk_u32)most);
  const bool finite = most < 0x7f800000;
  // Below this the inverse would be infinite.
  const float inverse = finite && size > 1e-36f ? 127.0f / size : 0.0f;
  int level[4];
  PK_UNROLL for (int i = 0; i < 4; i++) level[i] = finite ? (int)pk_rint(v[i] * inverse) : 0;
  int sum = level[0] + level[1] + level[2] + level[3];
  sum += pk_xor<1>(sum);
  sum += pk_xor<2>(sum);
  const int other = pk_xor<4>(sum);
  if (!own) return;
  levels = (level[0] & 255) | (level[1] & 255) << 8 | (level[2] & 255) << 16 | (pk_u32)level[3] << 24;
  const float step = finite ? size * (1.0f / 127.0f) : pk_float(0x7fc00000u);
  if ((pk_lane() & 7) == 0) line = {step, (sum & 0xffff) | (pk_u32)other << 16};
}
// Rounds `count` values of every column from value `first` on.
template <int COLUMNS>
PKD void round_columns(const Columns<COLUMNS> &x, pk_u32 first, pk_u32 count, Rounded<COLUMNS> &room) {
  PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
    PK_ROLLED for (pk_u32 base = 0; base < count / 4; base += TEAM_THREADS) {
      const pk_u32 k = base + pk_tid();
      const bool own = k < count / 4;
      const pk_u32 at = own ? k : 0;
      round_quad(quad(x.at[c], first / 4 + at), own, room.levels[c][at], room.lines[c][at / 8]);
    }
  }
}

// Adds the products of a unit with columns whose value `first` is the first in workgroup memory.
template <int TYPE, int COLUMNS>
PKD void add_unit_q8(const TeamWords<TYPE> &w, pk_u32 u, const Rounded<COLUMNS> &x, pk_u32 first, Sums<COLUMNS> &sums) {
  PK_IN_ORDER
  typedef Weights<TYPE> W;
  PK_UNROLL for (int run = 0; run < W::RUNS; run++) {
    const pk_u32 k = W::place(u, run) - first;
    Four levels[TEAM_ROWS];
    Steps steps[TEAM_ROWS];
    PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) {
      levels[r] = W::levels(w.at[r], u, run);
      steps[r] = W::steps(w.at[r], u, run);
    }
    PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
      const Four q = four_at((const char *)&x.levels[c][k / 4]);
      const RoundedLine line = x.lines[c][k / 32];
      const float sum = (float)(short)(line.sums >> (k & 16));
      PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) {
        int dot = 0;
        PK_UNROLL for (int i = 0; i < 4; i++) dot = pk_dot4((int)levels[r].w[i], (int)q.w[i], dot);
        const float least = W::SIGNED ? 0.0f : steps[r].least * sum;
        sums.at[r][c] = pk_fma(pk_fma(steps[r].step, (float)dot, -least), line.step, sums.at[r][c]);
      }
    }
  }
}

// Adds the products of this wave's units of rows of `width` values. All threads of a block come here. `is_rounded`: workgroup
// memory holds the first values already.
template <int TYPE, int COLUMNS>
PKD void dot_rows_q8(const Rows &rows, const Columns<COLUMNS> &x, pk_u32 width, const Team &team, Rounded<COLUMNS> &room,
                     bool is_rounded, Sums<COLUMNS> &sums) {
  typedef Weights<TYPE> W;
  const pk_u32 VALUES = W::RUNS * W::VALUES, CHUNK = rounded_values(COLUMNS);
  const pk_u32 units = width / VALUES, step = 32 * team.waves;
  pk_u32 u = 32 * team.part + pk_lane();
  // The next units are on their way while others are multiplied, the first while columns are rounded.
  TeamWords<TYPE> words = fetch_rows<TYPE>(rows, u < units ? u : 0);
  PK_ROLLED for (pk_u32 first = 0; first < width; first += CHUNK) {
    const pk_u32 count = width - first < CHUNK ? width - first : CHUNK, end = (first + count) / VALUES;
    if (first > 0 || !is_rounded) {
      pk_sync();
      round_columns<COLUMNS>(x, first, count, room);
      pk_sync();
    }
    PK_ROLLED while (u < end) {
      const pk_u32 next = u + step;
      TeamWords<TYPE> later = words;
      if (next < units) later = fetch_rows<TYPE>(rows, next);
      add_unit_q8<TYPE, COLUMNS>(words, u, room, first, sums);
      words = later;
      u = next;
    }
  }
}
