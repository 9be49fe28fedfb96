// Attention of single tokens, split over cells. A block reads a chunk of one key/value head once, for several query heads that
// share it, and leaves each head's largest score, sum of weights and weighted sum of values. Waves go their own ways, 16 cells
// at a time, each with sums of its own, and meet at the end.
#pragma once
#include "include/attention_cache.h"
#include "include/attention_chunks.h"

constexpr int SPLIT_THREADS = 128, SPLIT_WAVES = 4;
// Lanes that share a key, keys of a lane, cells of a wave at once, and values in flight.
constexpr int SHARE = 8, KEYS = 4, CELLS = 16, FLIGHT = 4;

// Adds what the lane MASK away has for one of two sums; a lane with that bit keeps the second.
template <int MASK> PKD float keep_half(float a, float b) {
  const bool second = (pk_lane() & MASK) != 0;
  float keep = second ? b : a, send = second ? a : b;
  return keep + pk_xor<MASK>(send);
}
// Sums of HEADS values over eight lanes; a lane keeps the one of head (lane % HEADS).
template <int HEADS> PKD float scatter_sum(float *x) {
  if constexpr (HEADS == 8)
    PK_UNROLL for (int i = 0; i < 4; i++) x[i] = keep_half<4>(x[i], x[i + 4]);
  else
    PK_UNROLL for (int i = 0; i < HEADS; i++) x[i] += pk_xor<4>(x[i]);
  if constexpr (HEADS >= 4)
    PK_UNROLL for (int i = 0; i < 2; i++) x[i] = keep_half<2>(x[i], x[i + 2]);
  else
    PK_UNROLL for (int i = 0; i < HEADS; i++) x[i] += pk_xor<2>(x[i]);
  return keep_half<1>(x[0], x[1]);
}

template <int TYPE, int D, int HEADS> PKD void attend_split(const flash_attention_args &p) {
  constexpr int PIECES = D / 8, COLUMNS = D / 32;
  // Heads whose sums meet at once: those of all waves fit where the queries were.
  constexpr int AT_ONCE = HEADS >= 4 ? HEADS / 4 : 1;
  PK_LDS float room[4 * AT_ONCE * D];
  PK_LDS float weights[SPLIT_WAVES * CELLS * HEADS];
  PK_LDS float shrinks[SPLIT_WAVES * HEADS];
  PK_LDS float lines[SPLIT_WAVES * HEADS * 2];
  const int tid = pk_tid(), lane = pk_lane(), wave = pk_wave(), team = lane / SHARE, member = lane % SHARE;
  const pk_u32 chunk = pk_bx(), token = pk_bz();
  const Seen seen = find_place(p, token, chunk == 0 && pk_by() == 0 && token == 0);
  if (!seen.held) return;
  const pk_u32 span = span_of(p, seen.visible), start = chunk * span;
  if (start >= seen.visible) return;
  const pk_u32 end = seen.visible - start < span ? seen.visible : start + span;
  const pk_u32 sharing = p.q.shape[2] / p.k.shape[2], kv = pk_by() / p.batches;
  const pk_u32 head0 = kv * sharing + pk_by() % p.batches * HEADS, rest = (kv + 1) * sharing - head0;
  const int live = rest < HEADS ? (int)rest : HEADS;
  // Groups of four lie by halves of pieces, so that members read from different banks.
  for (int i = tid; i < HEADS * D / 4; i += SPLIT_THREADS) {
    int h = i / (D / 4), quad = i % (D / 4);
    pk_f4 x = ((const pk_f4 *)row_of(p.q, token, head0 + (h < live ? h : live - 1), 0))[quad];
    PK_UNROLL for (int j = 0; j < 4; j++) x[j] *= p.scale;
    ((pk_f4 *)room)[(h * 2 + quad % 2) * PIECES + quad / 2] = x;
  }
  pk_sync();
  const char *keys = row_of(p.k, 0, kv, seen.slot), *values = row_of(p.v, 0, kv, seen.slot);
  float *own = weights + wave * CELLS * HEADS;
  float most = LOWEST, total = 0, sums[HEADS][COLUMNS];
  PK_UNROLL for (int h = 0; h < HEADS; h++)
    PK_UNROLL for (int c = 0; c < COLUMNS; c++) sums[h][c] = 0;
  PK_ROLLED for (pk_u32 first = start + wave * CELLS; first < end; first += SPLIT_WAVES * CELLS) {
    const int count = end - first < CELLS ? (int)(end - first) : CELLS;
    float dots[KEYS][HEADS];
    PK_UNROLL for (int j = 0; j < KEYS; j++)
      PK_UNROLL for (int h = 0; h < HEADS; h++) dots[j][h] = 0;
    PK_ROLLED for (int piece = member; piece < PIECES; piece += SHARE) {
      Values<TYPE, 8> key[KEYS];
      // Behind the last cell it is read again: its scores are not used there.
      PK_UNROLL for (int j = 0; j < KEYS; j++) {
        int cell = team + j * 4;
        key[j].read(keys + (first + (cell < count ? cell : count - 1)) * p.k.stride[1], piece * 8);
      }
      PK_UNROLL for (int h = 0; h < HEADS; h++)
        PK_UNROLL for (int half = 0; half < 2; half++) {
          pk_f4 q = ((const pk_f4 *)room)[(h * 2 + half) * PIECES + piece];
          PK_UNROLL for (int j = 0; j < KEYS; j++)
            PK_UNROLL for (int i = 0; i < 4; i++) dots[j][h] += q[i] * key[j].get(half * 4 + i);
        }
    }
    // A lane has the scores of one head and four cells.
    float scores[KEYS], next = most;
    PK_UNROLL for (int j = 0; j < KEYS; j++) {
      scores[j] = scatter_sum<HEADS>(dots[j]);
      if (team + j * 4 < count) next = higher(next, scores[j]);
    }
    next = higher(next, pk_xor<8>(next));
    next = higher(next, pk_xor<16>(next));
    const float shrink = shrunk(most, next);
    total *= shrink;
    PK_UNROLL for (int j = 0; j < KEYS; j++) {
      float share = team + j * 4 < count ? pk_exp(scores[j] - next) : 0.0f;
      total += share;
      if (member < HEADS) own[(team + j * 4) * HEADS + member] = share;
    }
    if (lane < HEADS) shrinks[wave * HEADS + lane] = shrink;
    const bool grows = wave_or(pk_bits(next) ^ pk_bits(most)) != 0;
    most = next;
    pk_wave_sync();
    if (grows)
      PK_UNROLL for (int h = 0; h < HEADS; h++)
        PK_UNROLL for (int c = 0; c < COLUMNS; c++) sums[h][c] *= shrinks[wave * HEADS + h];
    PK_ROLLED for (int c0 = 0; c0 < count; c0 += FLIGHT) {
      Values<TYPE, COLUMNS> value[FLIGHT];
      PK_UNROLL for (int j = 0; j < FLIGHT; j++) {
        int cell = c0 + j;
        value[j].read(values + (first + (cell < count ? cell : count - 1)) * p.v.stride[1], lane * COLUMNS);
        // A weight of 0 must stay one, whatever the last cell holds.
        if (cell >= count) value[j].clear();
      }
      PK_UNROLL for (int j = 0; j < FLIGHT; j++)
        PK_UNROLL for (int h = 0; h < HEADS; h++) {
          float share = own[(c0 + j) * HEADS + h];
          PK_UNROLL for (int c = 0; c < COLUMNS; c++) sums[h][c] += share * value[j].get(c);
        }
    }
    pk_wave_sync();
  }
  // What waves have found meets in workgroup memory.
  total += pk_xor<8>(total);
  total += pk_xor<16>(total);
  if (lane < HEADS) {
    lines[(wave * HEADS + lane) * 2] = most;
    lines[(wave * HEADS + lane) * 2 + 1] = total;
  }
  pk_sync();
  PK_UNROLL for (int h0 = 0; h0 < HEADS; h0 += AT_ONCE) {
    PK_UNROLL for (int a = 0; a < AT_ONCE; a++) {
      const int h = h0 + a;
      float top = LOWEST;
      PK_UNROLL for (int w = 0; w < SPLIT_WAVES; w++) top = higher(top, lines[(w * HEADS + h) * 2]);
      float part = shrunk(lines[(wave * HEADS + h) * 2], top);
      PK_UNROLL for (int c = 0; c < COLUMNS; c++) room[(a * SPLIT_WAVES + wave) * D + lane * COLUMNS + c] = sums[h][c] * part;
    }
    pk_sync();
    for (int i = tid; i < AT_ONCE * D; i += SPLIT_THREADS) {
      int a = i / D, c = i % D;
      if (h0 + a >= live) continue;
      float sum = 0;
      PK_UNROLL for (int w = 0; w < SPLIT_WAVES; w++) sum += room[(a * SPLIT_WAVES + w) * D + c];
      sums_of<D>(p, token, head0 + h0 + a, chunk)[c] = sum;
    }
    pk_sync();
  }
  if (tid < live) {
    float top = LOWEST, sum = 0;
    PK_UNROLL for (int w = 0; w < SPLIT_WAVES; w++) top = higher(top, lines[(w * HEADS + tid) * 2]);
    PK_UNROLL for (int w = 0; w < SPLIT_WAVES; w++)
      sum += lines[(w * HEADS + tid) * 2 + 1] * shrunk(lines[(w * HEADS + tid) * 2], top);
    float *line = sums_of<D>(p, token, head0 + tid, chunk) + D;
    line[0] = top;
    line[1] = sum;
  }
}
