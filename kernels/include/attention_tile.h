// Attention of many tokens in f32: 64 rows against blocks of 32 cells. A thread holds four rows, and of their results every
// sixteenth piece of eight columns.
#pragma once
#include "include/attention_cache.h"
#include "include/attention_tokens.h"

template <int TYPE, int D, class Args> PKD void attend_tile(const Args &p) {
  constexpr int QUADS = D / 4, PIECES = D / 8, OWN = (PIECES + 15) / 16;
  // Columns of queries and keys that are staged at once, in groups of four; the pitches keep banks apart.
  constexpr int DEEP = 8, Q_PITCH = 65, K_PITCH = 33, BESIDE = DEEP * Q_PITCH;
  // Queries, then weights; behind them keys, then largest scores.
  PK_LDS pk_f4 room[BESIDE + DEEP * K_PITCH];
  const int tid = pk_tid(), tx = tid % 16, ty = tid / 16;
  const pk_u32 span = tile_span(p), cells = p.k.shape[1];
  pk_u32 tokens[4], seen[4];
  bool held[4];
  float most[4], total[4], sums[OWN][4][8];
  PK_UNROLL for (int i = 0; i < 4; i++) {
    TileRow row = tile_row(p, ty * 4 + i);
    tokens[i] = row.there ? row.token : 0xffffffffu;
    held[i] = false;
    most[i] = LOWEST;
    total[i] = 0;
    PK_UNROLL for (int o = 0; o < OWN; o++)
      PK_UNROLL for (int c = 0; c < 8; c++) sums[o][i][c] = 0;
  }
  PK_ROLLED for (pk_u32 e = 0; e < p.segments.shape[1]; e++) {
    TileRun run;
    if (!tile_run(p, e, span, run)) continue;
    const char *keys = cells_at(p, p.k, run), *values = cells_at(p, p.v, run);
    PK_UNROLL for (int i = 0; i < 4; i++) {
      seen[i] = run.seen(cells, tokens[i]);
      held[i] = held[i] || run.holds(tokens[i], seen[i]);
    }
    PK_ROLLED for (pk_u32 first = run.start; first < run.end; first += TILE_KEYS) {
      const int count = run.end - first < TILE_KEYS ? (int)(run.end - first) : TILE_KEYS;
      float left[4] = {}, right[4] = {};
      PK_ROLLED for (int d = 0; d < QUADS; d += DEEP) {
        pk_sync();
        for (int i = tid; i < TILE_ROWS * DEEP; i += TILE_THREADS) {
          pk_f4 x = queries_of(p, i / DEEP)[d + i % DEEP];
          PK_UNROLL for (int j = 0; j < 4; j++) x[j] *= p.scale;
          room[i % DEEP * Q_PITCH + i / DEEP] = x;
        }
        if (tid < TILE_KEYS * DEEP / 2) {
          int key = tid / (DEEP / 2), piece = tid % (DEEP / 2);
          // Behind the last cell it is read again: its scores are not used there.
          Values<TYPE, 8> part;
          part.read(keys + (first + (key < count ? key : count - 1)) * p.k.stride[1], (d / 2 + piece) * 8);
          PK_UNROLL for (int half = 0; half < 2; half++) {
            pk_f4 x;
            PK_UNROLL for (int j = 0; j < 4; j++) x[j] = part.get(half * 4 + j);
            room[BESIDE + (piece * 2 + half) * K_PITCH + key] = x;
          }
        }
        pk_sync();
        PK_UNROLL for (int i = 0; i < DEEP; i++) {
          pk_f4 k = room[BESIDE + i * K_PITCH + tx], l = room[BESIDE + i * K_PITCH + tx + 16];
          PK_UNROLL for (int r = 0; r < 4; r++) {
            pk_f4 q = room[i * Q_PITCH + ty * 4 + r];
            PK_UNROLL for (int j = 0; j < 4; j++) {
              left[r] += q[j] * k[j];
              right[r] += q[j] * l[j];
            }
          }
        }
      }
      bool sees_left[4], sees_right[4];
      pk_f4 peaks;
      PK_UNROLL for (int r = 0; r < 4; r++) {
        sees_left[r] = first + tx < seen[r];
        sees_right[r] = first + tx + 16 < seen[r];
        peaks[r] = higher(sees_left[r] ? left[r] : LOWEST, sees_right[r] ? right[r] : LOWEST);
      }
      pk_sync();
      room[BESIDE + tx * 16 + ty] = peaks;
      pk_sync();
      float next[4];
      PK_UNROLL for (int r = 0; r < 4; r++) next[r] = most[r];
      PK_UNROLL for (int i = 0; i < 16; i++) {
        pk_f4 x = room[BESIDE + i * 16 + ty];
        PK_UNROLL for (int r = 0; r < 4; r++) next[r] = higher(next[r], x[r]);
      }
      pk_f4 shares, more;
      PK_UNROLL for (int r = 0; r < 4; r++) {
        float shrink = shrunk(most[r], next[r]);
        most[r] = next[r];
        shares[r] = sees_left[r] ? pk_exp(left[r] - next[r]) : 0.0f;
        more[r] = sees_right[r] ? pk_exp(right[r] - next[r]) : 0.0f;
        total[r] = total[r] * shrink + shares[r] + more[r];
        PK_UNROLL for (int o = 0; o < OWN; o++)
          PK_UNROLL for (int c = 0; c < 8; c++) sums[o][r][c] *= shrink;
      }
      room[tx * 16 + ty] = shares;
      room[(tx + 16) * 16 + ty] = more;
      pk_sync();
      if (tx < PIECES)
        PK_ROLLED for (int key = 0; key < count; key++) {
          pk_f4 w = room[key * 16 + ty];
          PK_UNROLL for (int o = 0; o < OWN; o++) {
            Values<TYPE, 8> part;
            part.read(values + (first + key) * p.v.stride[1], (o * 16 + tx) * 8);
            // What a cell holds cannot matter to rows that do not see it.
            PK_UNROLL for (int r = 0; r < 4; r++)
              if (first + key < seen[r])
                PK_UNROLL for (int c = 0; c < 8; c++) sums[o][r][c] += w[r] * part.get(c);
          }
        }
    }
  }
  pk_f4 parts;
  PK_UNROLL for (int r = 0; r < 4; r++) parts[r] = total[r];
  pk_sync();
  room[tx * 16 + ty] = parts;
  pk_sync();
  PK_UNROLL for (int r = 0; r < 4; r++) total[r] = 0;
  PK_UNROLL for (int i = 0; i < 16; i++) {
    pk_f4 x = room[i * 16 + ty];
    PK_UNROLL for (int r = 0; r < 4; r++) total[r] += x[r];
  }
  if (tx >= PIECES) return;
  PK_UNROLL for (int r = 0; r < 4; r++) {
    if (!held[r]) continue;
    TileRow row = tile_row(p, ty * 4 + r);
    if (tx == 0) keep_line<D>(p, row, most[r], total[r]);
    PK_UNROLL for (int o = 0; o < OWN; o++)
      PK_UNROLL for (int half = 0; half < 2; half++) {
        pk_f4 x;
        PK_UNROLL for (int c = 0; c < 4; c++) x[c] = sums[o][r][half * 4 + c];
        keep_quad<D>(p, row, (o * 16 + tx) * 2 + half, x, total[r]);
      }
  }
}
