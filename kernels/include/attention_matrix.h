// Attention of many tokens on matrix units: weights and operands are rounded to sixteen bits. Eight
// waves; two of them share 16 rows, each with half of the columns: of the products with keys, whose halves are added, and of
// the results.
#pragma once
#include "include/attention_cache.h"
#include "include/attention_tokens.h"

// A maximum may be exceeded by this much before results are rescaled: weights stay far below the largest half.
constexpr float SLACK = 8.0f;

// Halves of four numbers.
PKD pk_u64 halves_of(pk_f4 x) {
  pk_u32 low = pk_to_f16(x[0]) | (pk_u32)pk_to_f16(x[1]) << 16;
  pk_u32 high = pk_to_f16(x[2]) | (pk_u32)pk_to_f16(x[3]) << 16;
  return low | (pk_u64)high << 32;
}
PKD bool is_spoilt(pk_u32 half) { return (half & 0x7c00u) == 0x7c00u; }

// Bits that any wave has.
PKD pk_u32 any_of(const pk_u32 *waves) {
  pk_u32 all = 0;
  PK_UNROLL for (int i = 0; i < TILE_THREADS / 32; i++) all |= waves[i];
  return all;
}

template <int TYPE, int D, class Args> PKD void attend_matrix(const Args &p) {
  // Distances of rows in workgroup memory: multiples of 16 bytes that keep banks apart.
  constexpr int PITCH = D + 8, V_PITCH = TILE_KEYS + 8, S_PITCH = TILE_KEYS + 4, STEPS = D / 32;
  constexpr int STAGE = TILE_KEYS * PITCH > D * V_PITCH ? TILE_KEYS * PITCH : D * V_PITCH;
  // Queries, 32 rows at a time, then keys [cell][column], then values [column][cell].
  PK_LDS pk_h stage[STAGE];
  PK_LDS pk_h weights[TILE_ROWS * V_PITCH];
  // What each half of the columns gives to scores; also squares of results on their way out.
  PK_LDS float scores[2 * TILE_ROWS * S_PITCH];
  PK_LDS float shrinks[TILE_ROWS];
  PK_LDS int held[TILE_ROWS];
  // What each wave has found: cells whose value holds something that is no finite number, and whether a row's maximum grew.
  PK_LDS pk_u32 spoilt[8];
  PK_LDS pk_u32 grows[8];
  const int tid = pk_tid(), wave = pk_wave(), side = wave % 2, row0 = wave / 2 * 16;
  // Four lanes share a row of scores.
  const int row = tid / 4, part = tid % 4;
  const pk_u32 span = tile_span(p), cells = p.k.shape[1];
  const TileRow own = tile_row(p, row);
  const pk_u32 token = own.there ? own.token : 0xffffffffu;
  pk_frag queries[STEPS];
  PK_UNROLL for (int half = 0; half < 2; half++) {
    pk_sync();
    for (int i = tid; i < 32 * (D / 4); i += TILE_THREADS) {
      pk_f4 x = queries_of(p, half * 32 + i / (D / 4))[i % (D / 4)];
      PK_UNROLL for (int j = 0; j < 4; j++) x[j] *= p.scale;
      *(pk_u64 *)(stage + i / (D / 4) * PITCH + i % (D / 4) * 4) = halves_of(x);
    }
    pk_sync();
    if (row0 / 32 == half)
      PK_UNROLL for (int s = 0; s < STEPS; s++) pk_lda(queries[s], stage + row0 % 32 * PITCH + (side * STEPS + s) * 16, PITCH);
  }
  pk_acc results[STEPS];
  PK_UNROLL for (int s = 0; s < STEPS; s++) pk_zero(results[s]);
  if (part == 0) held[row] = 0;
  float most = LOWEST, total = 0;
  bool fresh = true;
  PK_ROLLED for (pk_u32 e = 0; e < p.segments.shape[1]; e++) {
    TileRun run;
    if (!tile_run(p, e, span, run)) continue;
    const char *keys = cells_at(p, p.k, run), *values = cells_at(p, p.v, run);
    const pk_u32 seen = run.seen(cells, token);
    if (part == 0 && run.holds(token, seen)) held[row] = 1;
    PK_ROLLED for (pk_u32 first = run.start; first < run.end; first += TILE_KEYS) {
      const int count = run.end - first < TILE_KEYS ? (int)(run.end - first) : TILE_KEYS;
      pk_sync();
      // Behind the last cell it is read again: its scores are not used there.
      PK_ROLLED for (int i = tid; i < TILE_KEYS * (D / 8); i += TILE_THREADS) {
        int cell = i / (D / 8);
        const char *key = keys + (first + (cell < count ? cell : count - 1)) * p.k.stride[1];
        pk_h *to = stage + cell * PITCH + i % (D / 8) * 8;
        if constexpr (TYPE == TYPE_F16) {
          *(pk_f4 *)to = ((const pk_f4 *)key)[i % (D / 8)];
        } else {
          Values<TYPE, 8> piece;
          piece.read(key, i % (D / 8) * 8);
          PK_UNROLL for (int j = 0; j < 4; j++) ((pk_u32 *)to)[j] = piece.half(2 * j) | piece.half(2 * j + 1) << 16;
        }
      }
      pk_sync();
      PK_ROLLED for (int tile = 0; tile < 2; tile++) {
        pk_acc c;
        pk_zero(c);
        PK_UNROLL for (int s = 0; s < STEPS; s++) {
          pk_frag key;
          pk_ldb(key, stage + tile * 16 * PITCH + (side * STEPS + s) * 16, PITCH);
          pk_mma(c, queries[s], key);
        }
        PK_UNROLL for (int i = 0; i < 8; i++)
          scores[(side * TILE_ROWS + row0 + pk_row(i)) * S_PITCH + tile * 16 + pk_col(i)] = pk_el(c, i);
      }
      pk_sync();
      // Values, turned: pairs of cells, eight columns a thread.
      pk_u32 bad = 0;
      PK_ROLLED for (int i = tid; i < TILE_KEYS / 2 * (D / 8); i += TILE_THREADS) {
        const int cell = i % (TILE_KEYS / 2) * 2, piece = i / (TILE_KEYS / 2);
        Values<TYPE, 8> pair[2];
        PK_UNROLL for (int j = 0; j < 2; j++) {
          int at = cell + j < count ? cell + j : count - 1;
          pair[j].read(values + (first + at) * p.v.stride[1], piece * 8);
          if (cell + j >= count) pair[j].clear();
        }
        PK_UNROLL for (int c = 0; c < 8; c++) {
          pk_u32 x[2];
          PK_UNROLL for (int j = 0; j < 2; j++) {
            x[j] = pair[j].half(c);
            // A product of weight 0 must stay 0 for rows that do not see the cell.
            if (is_spoilt(x[j])) {
              x[j] = 0;
              bad |= 1u << (cell + j);
            }
          }
          *(pk_u32 *)(stage + (piece * 8 + c) * V_PITCH + cell) = x[0] | x[1] << 16;
        }
      }
      float own_scores[8], peak = LOWEST;
      const pk_u32 cell0 = first + part * 8;
      PK_UNROLL for (int j = 0; j < 8; j++) {
        const float *score = scores + row * S_PITCH + part * 8 + j;
        own_scores[j] = score[0] + score[TILE_ROWS * S_PITCH];
        if (cell0 + j < seen) peak = higher(peak, own_scores[j]);
      }
      peak = higher(peak, pk_xor<1>(peak));
      peak = higher(peak, pk_xor<2>(peak));
      const pk_u32 grown = wave_or(peak > most + SLACK || pk_is_nan(peak) ? 1 : 0);
      bad = wave_or(bad);
      if (pk_lane() == 0) {
        spoilt[wave] = bad;
        grows[wave] = grown;
      }
      pk_sync();
      if (any_of(grows) != 0) {
        const float next = higher(most, peak), shrink = shrunk(most, next);
        most = next;
        total *= shrink;
        if (part == 0) shrinks[row] = shrink;
        pk_sync();
        // The first results of all rows are zero: they need not be rescaled.
        if (!fresh)
          PK_UNROLL for (int i = 0; i < 8; i++) {
            const float by = shrinks[row0 + pk_row(i)];
            PK_UNROLL for (int s = 0; s < STEPS; s++) pk_el(results[s], i) *= by;
          }
      }
      fresh = false;
      pk_f4 shares[2];
      PK_UNROLL for (int j = 0; j < 8; j++) {
        float share = cell0 + j < seen ? pk_exp(own_scores[j] - most) : 0.0f;
        shares[j / 4][j % 4] = share;
        total += pk_from_f16(pk_to_f16(share));
      }
      pk_u64 *to = (pk_u64 *)(weights + row * V_PITCH + part * 8);
      to[0] = halves_of(shares[0]);
      to[1] = halves_of(shares[1]);
      pk_sync();
      PK_ROLLED for (int k = 0; k < 2; k++) {
        pk_frag weight;
        pk_lda(weight, weights + row0 * V_PITCH + k * 16, V_PITCH);
        PK_UNROLL for (int s = 0; s < STEPS; s++) {
          pk_frag value;
          pk_ldb(value, stage + (side * STEPS + s) * 16 * V_PITCH + k * 16, V_PITCH);
          pk_mma(results[s], weight, value);
        }
      }
      bad = any_of(spoilt) >> (part * 8);
      if (bad != 0)
        for (int j = 0; j < 8; j++)
          if ((bad >> j & 1) != 0 && cell0 + j < seen) total = pk_float(0x7fc00000u);
    }
  }
  total += pk_xor<1>(total);
  total += pk_xor<2>(total);
  pk_sync();
  if (part == 0) {
    shrinks[row] = total;
    if (held[row] != 0) keep_line<D>(p, own, most, total);
  }
  float *square = scores + wave * 16 * 20;
  PK_UNROLL for (int s = 0; s < STEPS; s++) {
    pk_sync();
    PK_UNROLL for (int i = 0; i < 8; i++) square[pk_row(i) * 20 + pk_col(i)] = pk_el(results[s], i);
    pk_sync();
    // A row's eight columns a lane.
    const int r = row0 + pk_lane() / 2;
    if (held[r] != 0)
      PK_UNROLL for (int j = 0; j < 2; j++) {
        const int column = pk_lane() % 2 * 8 + j * 4;
        const pk_f4 x = *(const pk_f4 *)(square + pk_lane() / 2 * 20 + column);
        keep_quad<D>(p, tile_row(p, r), ((side * STEPS + s) * 16 + column) / 4, x, shrinks[r]);
      }
  }
}
