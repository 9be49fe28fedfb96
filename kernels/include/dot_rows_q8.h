// Rows of quantised weights times few columns, of which every 32 values are rounded to eight bits in workgroup memory.
#pragma once
#include "include/dot_rows.h"
#include "include/wide_units.h"

// 32 rounded values: a step, and the sums of the levels of both halves, sixteen bits each.
struct RoundedLine {
  float step;
  pk_u32 sums;
};
// Values of a row that are rounded at a time. A multiple of what a wave takes in one turn, so that the order of additions is
// the same for any of these sizes.
PKD constexpr pk_u32 rounded_values(int columns) { return columns == 1 ? 8192 : 4096; }
// Pieces of sixteen levels take turns in four planes, a distance apart that keeps the pieces of neighbouring lanes in
// different banks, whether their units hold one piece, two or four.
template <int COLUMNS> struct Rounded {
  static const int PLANE = rounded_values(COLUMNS) / 16 + 8;
  pk_u32 levels[COLUMNS][4 * PLANE];
  RoundedLine lines[COLUMNS][rounded_values(COLUMNS) / 32];

  // Where sixteen levels from value k on are, a multiple of 16.
  PKD pk_u32 piece_at(pk_u32 k) { return k / 16 % 4 * PLANE + k / 64 * 4; }
};

PKD int larger_bits(int a, int b) { return a > b ? a : b; }
// Added to a number below 2^22, it leaves the nearest integer in the low bits.
PKD constexpr float rounder() { return 12582912.0f; }
// Eight values by one thread of a block, four threads a line.
PKD void round_octet(const pk_f4 (&v)[2], bool own, pk_u32 *levels, RoundedLine &line) {
  PK_IN_ORDER
  int most = 0;
  // Bits order sizes, with infinities and NaN above all.
  PK_UNROLL for (int i = 0; i < 8; i++) most = larger_bits(most, (int)(pk_bits(v[i / 4][i % 4]) & 0x7fffffffu));
  most = larger_bits(most, pk_xor<1>(most));
  most = larger_bits(most, pk_xor<2>(most));
  const float size = pk_float((pk_u32)most);
  const bool finite = most < 0x7f800000;
  // Below this the inverse would be infinite.
  const float inverse = finite && size > 1e-36f ? 127.0f / size : 0.0f;
  pk_u32 octet[2];
  PK_UNROLL for (int h = 0; h < 2; h++) {
    pk_u32 level[4];
    PK_UNROLL for (int i = 0; i < 4; i++) level[i] = pk_bits(pk_fma(v[h][i], inverse, rounder()));
    octet[h] = (level[0] & 255) | (level[1] & 255) << 8 | (level[2] & 255) << 16 | level[3] << 24;
  }
  int sum = pk_dot4((int)octet[1], 0x01010101, pk_dot4((int)octet[0], 0x01010101, 0));
  sum += pk_xor<1>(sum);
  const int other = pk_xor<2>(sum);
  if (!own) return;
  PK_UNROLL for (int h = 0; h < 2; h++) levels[h] = octet[h];
  // What is not finite makes all products NaN.
  const float step = finite ? size * (1.0f / 127.0f) : pk_float(0x7fc00000u);
  if ((pk_lane() & 3) == 0) line = {step, (sum & 0xffff) | (pk_u32)other << 16};
}
// Rounds `count` values of every column from value `first` on.
template <int COLUMNS, class X>
PKD void round_columns(const X &x, pk_u32 first, pk_u32 count, Rounded<COLUMNS> &room) {
  PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
    PK_ROLLED for (pk_u32 base = 0; base < count / 8; base += TEAM_THREADS) {
      const pk_u32 k = base + pk_tid();
      const bool own = k < count / 8;
      const pk_u32 at = own ? k : 0;
      const pk_f4 v[2] = {column_quad(x, c, first / 4 + 2 * at), column_quad(x, c, first / 4 + 2 * at + 1)};
      round_octet(v, own, &room.levels[c][Rounded<COLUMNS>::piece_at(8 * at) + 2 * (at & 1)], room.lines[c][at / 4]);
    }
  }
}

template <int TYPE> struct TeamUnits {
  typename Wide<TYPE>::Words at[TEAM_ROWS];
};
template <int TYPE> PKD TeamUnits<TYPE> fetch_units(const Rows &rows, pk_u32 u) {
  TeamUnits<TYPE> units;
  PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) units.at[r] = Wide<TYPE>::fetch(rows.at[r], u);
  return units;
}

// Adds the products of a wide unit with columns, by its number from the first unit in workgroup memory on.
template <int TYPE, int COLUMNS>
PKD void add_unit_q8(const TeamUnits<TYPE> &w, pk_u32 u, const Rounded<COLUMNS> &x, Sums<COLUMNS> &sums) {
  PK_IN_ORDER
  typedef Wide<TYPE> W;
  PK_UNROLL for (int run = 0; run < W::RUNS; run++) {
    const pk_u32 k = W::place(u, run);
    typename W::Levels levels[TEAM_ROWS];
    Steps steps[TEAM_ROWS];
    PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) {
      levels[r] = W::levels(w.at[r], u, run);
      steps[r] = W::steps(w.at[r], u, run);
    }
    PK_UNROLL for (int c = 0; c < COLUMNS; c++) {
      const RoundedLine line = x.lines[c][k / 32];
      int dots[TEAM_ROWS];
      PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) dots[r] = 0;
      PK_UNROLL for (int part = 0; part < W::VALUES / 16; part++) {
        const Four q = four_at((const char *)&x.levels[c][Rounded<COLUMNS>::piece_at(k + 16 * part)]);
        PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++)
          PK_UNROLL for (int i = 0; i < 4; i++)
            dots[r] = W::dot4(levels[r].part[part].w[i], q.w[i], dots[r]);
      }
      const float sum = (float)(W::VALUES == 32 ? (int)(short)line.sums + ((int)line.sums >> 16)
                                                : (int)(short)(line.sums >> (k & 16)));
      PK_UNROLL for (int r = 0; r < TEAM_ROWS; r++) {
        const float least = W::SIGNED ? 0.0f : steps[r].least * sum;
        sums.at[r][c] = pk_here(pk_fma(pk_fma(steps[r].step, (float)dots[r], -least), line.step, sums.at[r][c]));
      }
      pk_in_turn();
    }
  }
}

// Where a wave's units begin.
PKD pk_u32 first_unit(const Team &team) { return 32 * team.part; }
// A wave's units from `base` on, one a lane; behind the last unit the first.
template <int TYPE> PKD TeamUnits<TYPE> fetch_turn(const Rows &rows, pk_u32 base, pk_u32 units) {
  const pk_u32 u = base + pk_lane();
  return fetch_units<TYPE>(rows, u < units ? u : 0);
}
template <int TYPE> PKD pk_u32 units_of(pk_u32 width) { return width / (Wide<TYPE>::RUNS * Wide<TYPE>::VALUES); }

// Adds the products of this wave's units of rows of `width` values, the first of which are in `words`. All threads of a block
// come here. `is_rounded`: workgroup memory holds the first values already.
template <int TYPE, int COLUMNS, class X>
PKD void dot_rows_q8(const Rows &rows, const X &x, pk_u32 width, const Team &team, Rounded<COLUMNS> &room,
                     bool is_rounded, TeamUnits<TYPE> &words, Sums<COLUMNS> &sums) {
  typedef Wide<TYPE> W;
  const pk_u32 VALUES = W::RUNS * W::VALUES, CHUNK = rounded_values(COLUMNS);
  const pk_u32 units = units_of<TYPE>(width), step = 32 * team.waves;
  pk_u32 base = first_unit(team);
  PK_ROLLED for (pk_u32 first = 0; first < width; first += CHUNK) {
    const pk_u32 count = width - first < CHUNK ? width - first : CHUNK, end = (first + count) / VALUES;
    if (first > 0 || !is_rounded) {
      pk_sync();
      round_columns<COLUMNS>(x, first, count, room);
      pk_sync();
    }
    PK_ROLLED while (base < end) {
      const pk_u32 u = base + pk_lane();
      if (u < units) add_unit_q8<TYPE, COLUMNS>(words, u - first / VALUES, room, sums);
      base += step;
      // Units are on their way while other waves multiply: to hold them beside these costs more waves than it gains.
      if (base < units) words = fetch_turn<TYPE>(rows, base, units);
    }
  }
}
// The same, with nothing on its way before.
template <int TYPE, int COLUMNS, class X>
PKD void dot_rows_q8(const Rows &rows, const X &x, pk_u32 width, const Team &team, Rounded<COLUMNS> &room,
                     bool is_rounded, Sums<COLUMNS> &sums) {
  TeamUnits<TYPE> words = fetch_turn<TYPE>(rows, first_unit(team), units_of<TYPE>(width));
  dot_rows_q8<TYPE, COLUMNS>(rows, x, width, team, room, is_rounded, words, sums);
}
