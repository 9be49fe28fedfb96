// Many columns of f32: a block computes 64 rows of 64 columns, each of its 128 threads 8 rows of 4 columns. Weights and x pass
// through workgroup memory 32 values at a time; half of the threads decode a row each, the others fetch a column each.
#pragma once
#include "include/quads.h"
#include "include/weights.h"

const pk_u32 TILE = 64, TILE_VALUES = 32;
struct TileRoom {
  // Four unused numbers a row keep rows in different banks.
  pk_f4 w[TILE][TILE_VALUES / 4 + 1], x[TILE][TILE_VALUES / 4 + 1];
};

// `own` is the thread's row of the room. Values lie in the order of units, those of x as those of the weight.
template <int TYPE> PKD void stage_weights(const WeightRow &row, pk_u32 turn, pk_f4 *own) {
  typedef Weights<TYPE> W;
  const int UNITS = TILE_VALUES / (W::RUNS * W::VALUES);
  typename W::Words words[UNITS];
  PK_UNROLL for (int i = 0; i < UNITS; i++) words[i] = W::fetch(row, turn * UNITS + i);
  PK_UNROLL for (int i = 0; i < UNITS; i++) {
    PK_UNROLL for (int run = 0; run < W::RUNS; run++) {
      const Run<TYPE> r = Run<TYPE>::of(words[i], turn * UNITS + i, run);
      PK_UNROLL for (int j = 0; j < W::VALUES / 4; j++) own[(i * W::RUNS + run) * W::VALUES / 4 + j] = r.quad(j);
    }
  }
}
template <int TYPE> PKD void stage_column(const char *column, pk_u32 turn, pk_f4 *own) {
  typedef Weights<TYPE> W;
  const int UNITS = TILE_VALUES / (W::RUNS * W::VALUES);
  PK_UNROLL for (int i = 0; i < UNITS; i++) {
    PK_UNROLL for (int run = 0; run < W::RUNS; run++) {
      const pk_u32 at = W::place(turn * UNITS + i, run) / 4;
      PK_UNROLL for (int j = 0; j < W::VALUES / 4; j++)
        own[(i * W::RUNS + run) * W::VALUES / 4 + j] = quad(column, at + j);
    }
  }
}

template <int TYPE, class Columns> PKD void mul_mat_tile(const Columns &c, TileRoom &room) {
  if (c.first >= c.end) return;
  const pk_u32 t = pk_tid(), first_row = pk_by() * TILE, last = c.rows() - 1, n = c.first + t % TILE;
  const bool decodes = pk_uniform(pk_wave()) < 2;
  const WeightRow row = c.weight(first_row + t % TILE < last ? first_row + t % TILE : last);
  const char *column = c.x(n < c.end ? n : c.end - 1);
  const pk_u32 tx = t % 8, ty = t / 8;
  float sums[8][4];
  PK_UNROLL for (int r = 0; r < 8; r++)
    PK_UNROLL for (int s = 0; s < 4; s++) sums[r][s] = 0;
  PK_ROLLED for (pk_u32 turn = 0; turn < c.width() / TILE_VALUES; turn++) {
    pk_sync();
    if (decodes) stage_weights<TYPE>(row, turn, room.w[t % TILE]);
    else stage_column<TYPE>(column, turn, room.x[t % TILE]);
    pk_sync();
    PK_ROLLED for (pk_u32 k = 0; k < TILE_VALUES / 4; k++) {
      pk_f4 x[4];
      PK_UNROLL for (int s = 0; s < 4; s++) x[s] = room.x[ty + 16 * s][k];
      PK_UNROLL for (int r = 0; r < 8; r++) {
        const pk_f4 w = room.w[tx + 8 * r][k];
        PK_UNROLL for (int s = 0; s < 4; s++)
          PK_UNROLL for (int i = 0; i < 4; i++) sums[r][s] = pk_fma(w[i], x[s][i], sums[r][s]);
      }
    }
  }
  PK_UNROLL for (int s = 0; s < 4; s++) {
    const pk_u32 at = c.first + ty + 16 * s;
    if (at >= c.end) continue;
    float *out = c.out(at);
    PK_UNROLL for (int r = 0; r < 8; r++) {
      const pk_u32 to = first_row + tx + 8 * r;
      if (to < c.rows()) out[to] = sums[r][s];
    }
  }
}
