// Consecutive values of a cached row, as they lie in memory: what is in flight stays small.
#pragma once
#include "include/view.h"

// N bytes, a multiple of 4, at a multiple of ALIGNMENT bytes.
template <int N, int ALIGNMENT> PKD void read_words(pk_u32 *to, const char *from) {
  if constexpr (ALIGNMENT >= 16 && N >= 16) {
    PK_UNROLL for (int i = 0; i < N / 16; i++) {
      pk_f4 x = ((const pk_f4 *)from)[i];
      PK_UNROLL for (int j = 0; j < 4; j++) to[4 * i + j] = pk_bits(x[j]);
    }
  } else if constexpr (ALIGNMENT >= 8 && N == 8) {
    pk_u64 x = *(const pk_u64 *)from;
    to[0] = (pk_u32)x;
    to[1] = (pk_u32)(x >> 32);
  } else if constexpr (ALIGNMENT >= 4) {
    PK_UNROLL for (int i = 0; i < N / 4; i++) to[i] = ((const pk_u32 *)from)[i];
  } else {
#if PK_HIP
    // This chip reads words at any address.
    typedef pk_u32 anywhere __attribute__((aligned(1)));
    PK_UNROLL for (int i = 0; i < N / 4; i++) to[i] = ((const anywhere *)from)[i];
#else
    const pk_u16 *halves = (const pk_u16 *)from;
    PK_UNROLL for (int i = 0; i < N / 4; i++) to[i] = halves[2 * i] | (pk_u32)halves[2 * i + 1] << 16;
#endif
  }
}

// N values of a row of a type, from a multiple of N on.
template <int TYPE, int N> struct Values;
template <int N> struct Values<TYPE_F32, N> {
  pk_u32 words[N];
  __device__ void read(const char *row, pk_u32 i) { read_words<N * 4, N * 4 < 16 ? N * 4 : 16>(words, row + i * 4); }
  __device__ void clear() { PK_UNROLL for (int i = 0; i < N; i++) words[i] = 0; }
  __device__ float get(int i) const { return pk_float(words[i]); }
};
template <int N> struct Values<TYPE_F16, N> {
  pk_u32 words[N / 2];
  __device__ void read(const char *row, pk_u32 i) { read_words<N * 2, N * 2 < 16 ? N * 2 : 16>(words, row + i * 2); }
  __device__ void clear() { PK_UNROLL for (int i = 0; i < N / 2; i++) words[i] = 0; }
  __device__ float get(int i) const { return i % 2 ? high_half(words[i / 2]) : low_half(words[i / 2]); }
  __device__ pk_u32 half(int i) const { return words[i / 2] >> (i % 2 * 16) & 0xffffu; }
};
// 34 bytes a block of 32: the scale, then levels.
template <int N> struct Values<TYPE_Q8_0, N> {
  pk_u32 words[(N + 3) / 4];
  pk_u16 scale;
  __device__ void read(const char *row, pk_u32 i) {
    const char *block = row + i / 32 * 34;
    scale = *(const pk_u16 *)block;
    if constexpr (N >= 4) read_words<N, 2>(words, block + 2 + i % 32);
    else words[0] = *(const pk_u16 *)(block + 2 + i % 32);
  }
  __device__ void clear() { scale = 0; }
  __device__ float get(int i) const {
    return (float)(int)(signed char)(words[i / 4] >> (i % 4 * 8)) * pk_from_f16(scale);
  }
  __device__ pk_u32 half(int i) const { return pk_to_f16(get(i)); }
};
// 18 bytes a block of 32: the scale, then 16 pairs of levels, value i in the low bits of byte i, value i + 16 in the high ones.
template <int N> struct Values<TYPE_Q4_0, N> {
  pk_u32 words[(N + 3) / 4], shift;
  pk_u16 scale;
  __device__ void read(const char *row, pk_u32 i) {
    const char *block = row + i / 32 * 18;
    scale = *(const pk_u16 *)block;
    shift = i % 32 / 16 * 4;
    if constexpr (N >= 4) read_words<N, 2>(words, block + 2 + i % 16);
    else words[0] = *(const pk_u16 *)(block + 2 + i % 16);
  }
  __device__ void clear() { scale = 0; }
  __device__ float get(int i) const {
    const pk_u32 levels = words[i / 4] >> shift & 0x0f0f0f0fu;
    return ((float)(levels >> (i % 4 * 8) & 255u) - 8.0f) * pk_from_f16(scale);
  }
  __device__ pk_u32 half(int i) const { return pk_to_f16(get(i)); }
};
