// The softmax of a row that threads share, see rows.h. Maxima are those of integers: NaN is the largest, on every device.
#pragma once
#include "include/elements.h"
#include "include/rows.h"

const pk_u32 MINUS_INFINITY = 0xff800000u;
PKD bool is_excluded(float x) { return pk_bits(x) == MINUS_INFINITY; }
// A score and its mask, which excludes whatever the score is.
PKD float masked(float x, float mask) { return is_excluded(mask) ? mask : x + mask; }

// An integer that orders floats, and back.
PKD int rank_of(float x) {
  if (pk_is_nan(x)) return 0x7fffffff;
  int b = (int)pk_bits(x);
  return b ^ (b >> 31 & 0x7fffffff);
}
PKD float value_of(int rank) { return pk_float((pk_u32)(rank ^ (rank >> 31 & 0x7fffffff))); }
const int LOWEST_RANK = -0x7f800001; // of minus infinity

PKD int larger(int a, int b) { return a > b ? a : b; }
PKD int most_of(float x) { return rank_of(x); }
PKD int most_of(pk_f4 x) { return larger(larger(rank_of(x[0]), rank_of(x[1])), larger(rank_of(x[2]), rank_of(x[3]))); }
template <int LANES> PKD int row_most(int x, int *room) {
  x = wave_most(x);
  if constexpr (LANES == 32) return x;
  if (pk_lane() == 0) room[pk_wave()] = x;
  pk_sync();
  PK_UNROLL for (int i = 0; i < LANES / 32; i++) x = larger(x, room[i]);
  return x;
}

// `score(k)` gives the scores of item k, `put(k, item)` takes its shares. `room` and `sums` are workgroup memory, a word for
// each wave.
template <int LANES, int HELD, class Item, class Score, class Put>
PKD void softmax_row(pk_u32 items, int *room, float *sums, Score score, Put put) {
  const pk_u32 lane = (pk_u32)pk_tid() % LANES;
  Item held[HELD];
  int rank = LOWEST_RANK;
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    pk_u32 k = lane + j * LANES;
    if (k < items) {
      held[j] = score(k);
      rank = larger(rank, most_of(held[j]));
    }
  }
  for (pk_u32 k = lane + HELD * LANES; k < items; k += LANES) rank = larger(rank, most_of(score(k)));
  rank = row_most<LANES>(rank, room);
  const float most = value_of(rank);
  auto weight = [most](float x) { return is_excluded(x) ? 0.0f : pk_exp(x - most); };
  float sum = 0;
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    if (lane + j * LANES < items) {
      held[j] = each(held[j], weight);
      sum += total(held[j]);
    }
  }
  for (pk_u32 k = lane + HELD * LANES; k < items; k += LANES) sum += total(each(score(k), weight));
  sum = block_sum<LANES>(sum, sums);
  float share = sum == 0 ? 0.0f : 1.0f / sum;
  // A score that is NaN or infinite leaves nothing that is a number, whatever the exponential made of it.
  if (rank >= 0x7f800000) share = pk_float(0x7fc00000u);
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    pk_u32 k = lane + j * LANES;
    if (k < items) put(k, scaled(held[j], share));
  }
  for (pk_u32 k = lane + HELD * LANES; k < items; k += LANES) put(k, scaled(each(score(k), weight), share));
}
