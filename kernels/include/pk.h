// One kernel source for three targets:
//   AMD gfx11   clang++ -x hip, or hiprtc (wave32)
//   NVIDIA      nvrtc, sm_80 and later, through a HIP shim for tests
//   CPU         a host compiler, every GPU thread a fiber, for tests under sanitizers
// Rules: blocks are one-dimensional and a multiple of 32 threads; a wave is 32 lanes; every cross-lane operation and every
// barrier is reached by all lanes of the wave or block. No kernel assumes the layout of a matrix fragment: it asks pk_row(i)
// and pk_col(i) where element i of an accumulator lives.
#pragma once

// A long text's entry points lie in parts, so that a compiler at run time gets only those that a model needs. An entry point
// of the part `q4_k` has `_q4_k` in its name, one of the part `any` no part's name.
#ifndef PK_WHOLE
#define PK_WHOLE 1
#endif
#define PK_PART(name) (PK_WHOLE || PK_PART_##name)

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define PK_CUDA 1
#include "include/pk_cuda.h"
#elif defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define PK_HIP 1
#include "include/pk_hip.h"
#else
#define PK_CPU 1
#include "include/pk_cpu.h"
#endif

typedef unsigned char pk_u8;
typedef unsigned short pk_u16;
typedef unsigned int pk_u32;
typedef unsigned long long pk_u64;
typedef long long pk_i64;

PKD int pk_lane() { return pk_tid() & 31; }
PKD int pk_wave() { return pk_tid() >> 5; }

// Sum and maximum over the 32 lanes; every lane gets it.
PKD float pk_wsum(float x) {
  x += pk_xor<1>(x);
  x += pk_xor<2>(x);
  x += pk_xor<4>(x);
  x += pk_xor<8>(x);
  x += pk_xor<16>(x);
  return x;
}
PKD float pk_max(float a, float b) { return a > b ? a : b; }
PKD float pk_min(float a, float b) { return a < b ? a : b; }
PKD float pk_wmax(float x) {
  x = pk_max(x, pk_xor<1>(x));
  x = pk_max(x, pk_xor<2>(x));
  x = pk_max(x, pk_xor<4>(x));
  x = pk_max(x, pk_xor<8>(x));
  x = pk_max(x, pk_xor<16>(x));
  return x;
}

// Bits.
PKD pk_u32 pk_bits(float x) { return __builtin_bit_cast(pk_u32, x); }
PKD float pk_float(pk_u32 x) { return __builtin_bit_cast(float, x); }

// By exponent bits: fast-math folds x != x away.
PKD bool pk_is_nan(float x) { return (pk_bits(x) & 0x7fffffffu) > 0x7f800000u; }
PKD bool pk_is_finite(float x) { return (pk_bits(x) & 0x7f800000u) != 0x7f800000u; }

// bf16: the upper half of an f32, rounded to even; NaN stays NaN.
PKD float pk_from_bf16(pk_u16 x) { return pk_float((pk_u32)x << 16); }
PKD pk_u16 pk_to_bf16(float x) {
  pk_u32 b = pk_bits(x);
  if (pk_is_nan(x)) return (pk_u16)((b >> 16) | 64u);
  return (pk_u16)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
PKD float pk_from_f16(pk_u16 x) { return (float)__builtin_bit_cast(pk_h, x); }
PKD pk_u16 pk_to_f16(float x) { return __builtin_bit_cast(pk_u16, (pk_h)x); }

// Functions of one number, from exp2, log2 and reciprocals.
PKD float pk_exp(float x) { return pk_exp2(x * 1.44269504088896341f); }
PKD float pk_log(float x) { return pk_log2(x) * 0.69314718055994531f; }
PKD float pk_sigmoid(float x) { return 1.0f / (1.0f + pk_exp(-x)); }
