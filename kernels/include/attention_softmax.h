// Running softmax: sums are relative to the largest score so far, and shrink when a larger one comes.
#pragma once
#include "include/pk.h"

// Below every score; finite, so that differences are numbers.
constexpr float LOWEST = -3.4028234e38f;

// The larger of two; NaN wins.
PKD float higher(float a, float b) { return b > a || pk_is_nan(b) ? b : a; }
// What older sums are worth; bounded, since nothing may have been seen yet. NaN stays NaN.
PKD float shrunk(float before, float now) {
  float distance = before - now;
  return pk_exp(distance < -100.0f ? -100.0f : distance);
}
PKD bool is_minus_infinity(float x) { return pk_bits(x) == 0xff800000u; }

// The largest over the 32 lanes.
PKD float wave_higher(float x) {
  x = higher(x, pk_xor<1>(x));
  x = higher(x, pk_xor<2>(x));
  x = higher(x, pk_xor<4>(x));
  x = higher(x, pk_xor<8>(x));
  return higher(x, pk_xor<16>(x));
}
// The largest over a block; `room` as for block_sum.
template <int THREADS> PKD float block_higher(float x, float *room) {
  x = wave_higher(x);
  if (pk_lane() == 0) room[pk_wave()] = x;
  pk_sync();
  float most = room[0];
  PK_UNROLL for (int i = 1; i < THREADS / 32; i++) most = higher(most, room[i]);
  return most;
}
