// Rows as caches hold them: plain numbers, and blocks of 32 as weft_core::quant encodes them. Bytes are the same on every
// device: not every GPU divides exactly, so quotients are formed by integers, and fast-math may join no product with a sum.
#pragma once
#include "include/block.h"
#include "include/elements.h"

// v / 127, rounded as IEEE division rounds. For v not negative.
PKD float over_127(float v) {
  pk_u32 bits = pk_bits(v), exponent = bits >> 23;
  // Infinities and NaN as they are; numbers this small are no halves.
  if (exponent == 255) return v;
  if (exponent < 32) return 0;
  pk_u32 whole = ((bits & 0x7fffffu) | 0x800000u) << 8;
  pk_u32 q = whole / 127, rest = whole - q * 127;
  // One or two bits more than a float holds.
  pk_u32 drop = q >= 0x2000000u ? 2 : 1;
  pk_u32 low = q & ((1u << drop) - 1), middle = 1u << (drop - 1);
  q >>= drop;
  if (low > middle || (low == middle && (rest > 0 || (q & 1) == 1))) q++;
  // The value is q · 2^(exponent − 150 − 8 + drop).
  return (float)q * pk_float((exponent + drop - 31) << 23);
}

// 1 / d of a half's bits without its sign, rounded as IEEE division rounds; 0 for 0.
PKD float half_inverse(pk_u32 half) {
  if (half == 0) return 0;
  int exponent = (int)(half >> 10);
  pk_u32 d = half & 0x3ffu;
  if (exponent == 0) {
    for (exponent = 1; d < 0x400u; exponent--) d <<= 1;
  } else {
    d |= 0x400u;
  }
  // 2^34 / d, from 2^31 / d and its rest.
  pk_u32 first = 0x80000000u / d, rest = (0x80000000u - first * d) * 8;
  pk_u32 q = first * 8 + rest / d, left = rest % d * 2;
  if (left > d || (left == d && (q & 1) == 1)) q++;
  // The value is q · 2^(−9 − exponent).
  return (float)q * pk_float((pk_u32)(118 - exponent) << 23);
}

// To the nearest integer, ties away from zero, within bounds; 0 for NaN.
PKD int level_of(float x, float least, float most) {
  if (pk_is_nan(x)) return 0;
  if (x <= least) return (int)least;
  if (x >= most) return (int)most;
  return (int)pk_opaque(x + (x < 0 ? -0.49999997f : 0.49999997f));
}

const pk_u32 LARGEST_HALF = 0x477fe000u; // 65504 as f32
// The bits of the nearest finite half.
PKD pk_u32 finite_half(float x) { return pk_to_f16(pk_bits(x) > LARGEST_HALF ? pk_float(LARGEST_HALF) : x); }

// Blocks are encoded by whole waves: lane l has value l.
PKD void put_q8_0(char *at, float x) {
  pk_u32 size = pk_is_nan(x) ? 0 : pk_bits(x) & 0x7fffffffu;
  pk_u32 d = finite_half(over_127(pk_float(wave_most(size))));
  if (pk_lane() == 0) write16(at, (pk_u16)d);
  at[2 + pk_lane()] = (char)level_of(pk_times(x, half_inverse(d)), -127.0f, 127.0f);
}
PKD void put_q4_0(char *at, float x) {
  pk_u32 size = pk_is_nan(x) ? 0 : pk_bits(x) & 0x7fffffffu;
  pk_u32 most = wave_most(size);
  // Of values that are equally large the first one gives the sign.
  pk_u32 first = 31 - wave_most(size == most ? 31u - pk_lane() : 0u);
  pk_u32 negative = pk_shuffle(pk_bits(x), (int)first) >> 31;
  if (most == 0) negative = 0;
  // The largest falls on level 0, the only one that reaches 8 steps.
  pk_u32 d = finite_half(pk_float(most) * 0.125f), sign = negative ^ 1;
  float inverse = half_inverse(d);
  float scaled = pk_opaque(pk_times(x, sign ? -inverse : inverse) + 8.0f);
  pk_u32 level = (pk_u32)level_of(scaled, 0.0f, 15.0f);
  pk_u32 upper = pk_xor<16>(level);
  if (pk_lane() == 0) write16(at, (pk_u16)(d | sign << 15));
  if (pk_lane() < 16) at[2 + pk_lane()] = (char)(level | upper << 4);
}

// Puts value i0 of a row. Of a quantised row whole waves put a block at once, lane l value 32·k + l.
PKD void put_value(const View &v, char *row, pk_u32 i0, float x) {
  if (v.type == TYPE_Q8_0) put_q8_0(row + i0 / 32 * v.stride[0], x);
  else if (v.type == TYPE_Q4_0) put_q4_0(row + i0 / 32 * v.stride[0], x);
  else write_number(v.type, row + i0 * v.stride[0], x);
}
