// Sums and maxima over the threads of a block.
#pragma once
#include "include/pk.h"

// Over all THREADS of a block, every thread gets it. `room` holds THREADS / 32 floats of workgroup memory and may be used
// again after the next barrier.
template <int THREADS> PKD float block_sum(float x, float *room) {
  x = pk_wsum(x);
  if constexpr (THREADS == 32) return x;
  if (pk_lane() == 0) room[pk_wave()] = x;
  pk_sync();
  float sum = 0;
  PK_UNROLL for (int i = 0; i < THREADS / 32; i++) sum += room[i];
  return sum;
}
template <int THREADS> PKD float block_max(float x, float *room) {
  x = pk_wmax(x);
  if constexpr (THREADS == 32) return x;
  if (pk_lane() == 0) room[pk_wave()] = x;
  pk_sync();
  float most = room[0];
  PK_UNROLL for (int i = 1; i < THREADS / 32; i++) most = pk_max(most, room[i]);
  return most;
}

// The largest of 32 lanes' integers, every lane gets it.
template <class T> PKD T wave_most(T x) {
  T y;
  x = (y = pk_xor<1>(x)) > x ? y : x;
  x = (y = pk_xor<2>(x)) > x ? y : x;
  x = (y = pk_xor<4>(x)) > x ? y : x;
  x = (y = pk_xor<8>(x)) > x ? y : x;
  return (y = pk_xor<16>(x)) > x ? y : x;
}
