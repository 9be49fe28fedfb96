// Many columns on matrix units: halves multiplied, sums in f32. A block computes ROWS rows of COLUMNS columns, its waves WIDE
// groups of rows side by side. Weights and x (halves in scratch memory, row by row) pass through workgroup memory 64 values
// at a time; two threads decode a row, and each holds its part of the next turn while the matrices are multiplied.
#pragma once
#include "include/halves.h"

const pk_u32 TURN = 64, HALVES_PITCH = TURN + 8; // eight unused halves keep rows in different banks
template <pk_u32 ROWS, pk_u32 COLUMNS> struct HalvesRoom {
  pk_h w[ROWS * HALVES_PITCH], x[COLUMNS * HALVES_PITCH];
};

// A thread's part of a turn: 32 values of a row, and some of a column.
template <int TYPE, pk_u32 ROWS, pk_u32 COLUMNS> struct Share {
  typedef Weights<TYPE> W;
  static const pk_u32 UNITS = 32 / (W::RUNS * W::VALUES);
  // Threads of a column, and vectors of eight halves of each.
  static const pk_u32 THREADS = 2 * ROWS / COLUMNS, EIGHTS = TURN / 8 / THREADS;
  typename W::Words words[UNITS];
  Four x[EIGHTS];

  // Which unit stands at place i of this thread's half of a turn.
  PKD pk_u32 unit(pk_u32 turn, pk_u32 half, pk_u32 i) { return (2 * turn + half) * UNITS + i; }
  // Which value of a column stands at a place of a turn. Values lie in the order of units.
  PKD pk_u32 value_at(pk_u32 turn, pk_u32 at) {
    if (!W::QUANTISED) return TURN * turn + at;
    const pk_u32 run = at / W::VALUES;
    return W::place(unit(turn, at / 32, run % (32 / W::VALUES) / W::RUNS), run % W::RUNS) + at % W::VALUES;
  }
  __device__ void fetch(const WeightRow &row, const char *column, pk_u32 turn) {
    const pk_u32 half = pk_tid() % 2, from = pk_tid() % THREADS * EIGHTS * 8;
    PK_UNROLL for (pk_u32 i = 0; i < UNITS; i++) words[i] = W::fetch(row, unit(turn, half, i));
    PK_UNROLL for (pk_u32 e = 0; e < EIGHTS; e++) x[e] = four_at(column + 2 * value_at(turn, from + 8 * e));
  }
  __device__ void put(pk_u32 turn, HalvesRoom<ROWS, COLUMNS> &room) const {
    const pk_u32 t = pk_tid(), half = t % 2;
    pk_h *w = room.w + t / 2 * HALVES_PITCH + 32 * half, *own = room.x + t / THREADS * HALVES_PITCH + t % THREADS * EIGHTS * 8;
    PK_UNROLL for (pk_u32 e = 0; e < EIGHTS; e++) put_four(own + 8 * e, x[e]);
    pk_f4 low;
    PK_UNROLL for (pk_u32 q = 0; q < 8; q++) {
      const pk_u32 run = q * 4 / W::VALUES, i = run / W::RUNS;
      const pk_f4 v = Run<TYPE>::of(words[i], unit(turn, half, i), run % W::RUNS).quad(q * 4 % W::VALUES / 4);
      if (q % 2 == 0) low = v;
      else put_four(w + 4 * (q - 1), eight_of(low, v));
    }
  }
};

// `scratch` holds x as halves.
template <int TYPE, pk_u32 ROWS, pk_u32 COLUMNS, pk_u32 WIDE, class Where>
PKD void mul_mat_wmma(const Where &c, const char *scratch, HalvesRoom<ROWS, COLUMNS> &room) {
  typedef Share<TYPE, ROWS, COLUMNS> Piece;
  if (c.first >= c.end) return;
  // Waves above each other, and the squares of a wave.
  const pk_u32 HIGH = ROWS / 16 / WIDE;
  const int ACROSS = ROWS / 16 / WIDE, DOWN = COLUMNS / 16 / HIGH;
  const pk_u32 wave = (pk_u32)pk_uniform(pk_wave());
  const pk_u32 row0 = wave % WIDE * ACROSS * 16, column0 = wave / WIDE * DOWN * 16;
  const pk_u32 first_row = pk_by() * ROWS, last = c.rows() - 1;
  // Rows and columns behind the last are computed as that one and not stored.
  const pk_u32 own_row = first_row + pk_tid() / 2, own_column = c.first + pk_tid() / Piece::THREADS;
  const WeightRow row = c.weight(own_row < last ? own_row : last);
  const char *column = scratch + (pk_u64)c.number(own_column < c.end ? own_column : c.end - 1) * c.width() * 2;
  pk_acc sums[DOWN][ACROSS];
  PK_UNROLL for (int d = 0; d < DOWN; d++)
    PK_UNROLL for (int a = 0; a < ACROSS; a++) pk_zero(sums[d][a]);
  const pk_u32 turns = c.width() / TURN;
  Piece share;
  share.fetch(row, column, 0);
  PK_ROLLED for (pk_u32 turn = 0; turn < turns; turn++) {
    pk_sync();
    share.put(turn, room);
    pk_sync();
    // The last turn loads itself again.
    share.fetch(row, column, turn + 1 < turns ? turn + 1 : turn);
    PK_UNROLL for (pk_u32 k = 0; k < TURN; k += 16) {
      pk_frag x[DOWN], w[ACROSS];
      PK_UNROLL for (int d = 0; d < DOWN; d++) pk_lda(x[d], room.x + (column0 + 16 * d) * HALVES_PITCH + k, HALVES_PITCH);
      PK_UNROLL for (int a = 0; a < ACROSS; a++) pk_ldb(w[a], room.w + (row0 + 16 * a) * HALVES_PITCH + k, HALVES_PITCH);
      PK_UNROLL for (int d = 0; d < DOWN; d++)
        PK_UNROLL for (int a = 0; a < ACROSS; a++) pk_mma(sums[d][a], x[d], w[a]);
    }
  }
  PK_UNROLL for (int d = 0; d < DOWN; d++) {
    PK_UNROLL for (int i = 0; i < 8; i++) {
      PK_UNROLL for (int a = 0; a < ACROSS; a++) {
        const pk_u32 n = c.first + column0 + 16 * d + pk_row(i), to = first_row + row0 + 16 * a + pk_col(i);
        if (n < c.end && to <= last) c.out(n)[to] = pk_el(sums[d][a], i);
      }
    }
  }
}
