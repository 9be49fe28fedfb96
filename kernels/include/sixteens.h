// Types of few bits, sixteen values at a time: every sixteen of a block have one step. A type is told by
//   Sixteens<TYPE>::SIGNED     whether levels are signed bytes; else there is a least
//   Sixteens<TYPE>::of(b, g)   the g-th sixteen of a block
// where the block gives the words, halves and bytes of its parts, wherever those lie.
#pragma once
#include "include/view.h"

// A part of a block: first byte in a block of a file, size, and bytes of the parts whose planes stand before its own.
struct Part {
  pk_u32 start, bytes, before;
};
// Of the parts before, only the last can end off a multiple of 16.
PKD pk_u64 plane_start(pk_u32 blocks, Part part) { return ((pk_u64)blocks * part.before + 15) & ~(pk_u64)15; }
PKD const char *plane_of(const View &v, const char *row, Part part) { return row + plane_start(v.blocks, part); }
PKD const char *part_of(const View &v, const char *row, pk_u32 block, Part part) {
  if (v.blocks == 0) return row + block * v.stride[0] + part.start;
  return plane_of(v, row, part) + (pk_u64)(v.first + block) * part.bytes;
}

struct Four {
  pk_u32 w[4];
};
// A value is step * level - least.
struct Steps {
  float step, least;
};
struct Sixteen {
  Four levels;
  Steps steps;
};
PKD Sixteen signed_sixteen(const Four &levels, float step) { return {levels, {step, 0}}; }

// A block of any layout.
struct AnyBlock {
  // Those of the view.
  pk_i64 stride;
  pk_u32 blocks, first;
  const char *row;
  pk_u32 block;
  __device__ const char *at(Part part) const {
    if (blocks == 0) return row + block * stride + part.start;
    return row + plane_start(blocks, part) + (pk_u64)(first + block) * part.bytes;
  }
  __device__ pk_u32 word(Part part, pk_u32 i) const { return read32(at(part) + i); }
  __device__ pk_u32 half(Part part, pk_u32 i) const { return read16(at(part) + i); }
  __device__ pk_u32 byte(Part part, pk_u32 i) const { return *(const pk_u8 *)(at(part) + i); }
};

template <int TYPE> struct Sixteens;
PKD Four of_each(pk_u32 a, pk_u32 b, pk_u32 c, pk_u32 d) { return {{a, b, c, d}}; }
// Takes a small number off each byte, which is below 128.
PKD pk_u32 less(pk_u32 bytes, pk_u32 by) { return ((bytes | 0x80808080u) - by * 0x01010101u) ^ 0x80808080u; }
// Bits 2p and 2p + 1 of sixteen bytes of a part.
template <class B> PKD Four pairs_of(const B &b, Part part, pk_u32 at, pk_u32 p) {
  Four r;
  PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = b.word(part, at + 4 * i) >> (2 * p) & 0x03030303u;
  return r;
}
// Where the g-th sixteen of Q2_K, Q3_K and TQ2_0 lies in their pairs of bits.
PKD pk_u32 pairs_at(pk_u32 g) { return g / 8 * 32 + g % 2 * 16; }

template <> struct Sixteens<TYPE_Q2_K> {
  static const bool SIGNED = false;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {16, 64, 0}, groups = {0, 16, 64}, line = {80, 4, 80};
    const pk_u32 own = b.byte(groups, g), d = b.word(line, 0);
    return {pairs_of(b, levels, pairs_at(g), g / 2 % 4),
            {low_half(d) * (float)(own & 15), high_half(d) * (float)(own >> 4)}};
  }
};
template <> struct Sixteens<TYPE_Q3_K> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {32, 64, 0}, thirds = {0, 32, 64}, scales = {96, 12, 96}, scale = {108, 2, 108};
    const pk_u32 low = b.byte(scales, g % 8) >> (g / 8 * 4) & 15, high = b.byte(scales, 8 + g % 4) >> (g / 4 * 2) & 3;
    Four r = pairs_of(b, levels, pairs_at(g), g / 2 % 4);
    PK_UNROLL for (int i = 0; i < 4; i++)
      r.w[i] = less(r.w[i] | (b.word(thirds, g % 2 * 16 + 4 * i) >> (g / 2) & 0x01010101u) << 2, 4);
    return signed_sixteen(r, low_half(b.half(scale, 0)) * (float)((int)(low | high << 4) - 32));
  }
};

// Sixteen levels by number, four numbers at a time.
struct Numbered {
  pk_u32 level[4];
};
PKD pk_u32 numbered(const Numbered &t, pk_u32 numbers) {
  const pk_u32 at = numbers & 0x07070707u, late = (numbers >> 3 & 0x01010101u) * 255;
  return (pk_bytes(t.level[0], t.level[1], at) & ~late) | (pk_bytes(t.level[2], t.level[3], at) & late);
}
PKD Numbered iq4_levels() { return {{0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}}; }
// Twice the levels.
PKD Numbered fp4_levels() { return {{0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu}}; }
// Low or high nibbles of sixteen bytes as levels.
template <class B> PKD Four nibbles_of(const B &b, Part part, pk_u32 at, pk_u32 high, const Numbered &t) {
  Four r;
  PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = numbered(t, b.word(part, at + 4 * i) >> (4 * high) & 0x0f0f0f0fu);
  return r;
}
template <> struct Sixteens<TYPE_IQ4_NL> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {2, 16, 0}, scale = {0, 2, 16};
    return signed_sixteen(nibbles_of(b, levels, 0, g, iq4_levels()), low_half(b.half(scale, 0)));
  }
};
template <> struct Sixteens<TYPE_IQ4_XS> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {8, 128, 0}, head = {0, 8, 128};
    const pk_u32 group = g / 2, first = b.word(head, 0);
    const pk_u32 scale = (b.word(head, 4) >> (4 * group) & 15) | (first >> (16 + 2 * group) & 3) << 4;
    return signed_sixteen(nibbles_of(b, levels, 16 * group, g % 2, iq4_levels()), low_half(first) * (float)((int)scale - 32));
  }
};
template <> struct Sixteens<TYPE_MXFP4> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {1, 16, 0}, scale = {0, 1, 16};
    const pk_u32 e = b.byte(scale, 0);
    // 2^(e - 128); the two smallest are subnormal.
    return signed_sixteen(nibbles_of(b, levels, 0, g, fp4_levels()), pk_float(e < 2 ? 0x200000u << e : (e - 1) << 23));
  }
};
template <> struct Sixteens<TYPE_NVFP4> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {4, 32, 0}, scales = {0, 4, 32};
    const pk_u32 code = b.byte(scales, g) & 127, mantissa = code & 7;
    // Half of a scale; the code of NaN is a zero.
    const float half = code < 8 ? (float)mantissa * 0x1p-10f : pk_float((code << 20) + (119u << 23));
    const pk_u32 a = b.word(levels, 8 * g), c = b.word(levels, 8 * g + 4), low = 0x0f0f0f0fu;
    const Numbered t = fp4_levels();
    return signed_sixteen(of_each(numbered(t, a & low), numbered(t, c & low), numbered(t, a >> 4 & low), numbered(t, c >> 4 & low)),
                          code == 127 ? 0.0f : half);
  }
};

template <> struct Sixteens<TYPE_Q1_0> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {2, 16, 0}, scale = {0, 2, 16};
    const pk_u32 bits = b.half(levels, 2 * g);
    Four r;
    // Bit n of four becomes bit 1 of byte n.
    PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = less((bits >> (4 * i) & 15) * 0x00408102u & 0x02020202u, 1);
    return signed_sixteen(r, low_half(b.half(scale, 0)));
  }
};
// Four levels of two bits, each to a byte.
PKD pk_u32 spread(pk_u32 byte) {
  const pk_u32 two = (byte | byte << 12) & 0x000f000fu;
  return (two | two << 6) & 0x03030303u;
}
template <> struct Sixteens<TYPE_Q2_0> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {2, 16, 0}, scale = {0, 2, 16};
    const pk_u32 w = b.word(levels, 4 * g);
    Four r;
    PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = less(spread(w >> (8 * i) & 255), 1);
    return signed_sixteen(r, low_half(b.half(scale, 0)));
  }
};
template <> struct Sixteens<TYPE_TQ2_0> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {0, 64, 0}, scale = {64, 2, 64};
    Four r = pairs_of(b, levels, pairs_at(g), g / 2 % 4);
    PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = less(r.w[i], 1);
    return signed_sixteen(r, low_half(b.half(scale, 0)));
  }
};
// The digit of a number to the base 3 in each byte at this power of 3.
PKD pk_u32 digits(pk_u32 bytes, pk_u32 power) {
  const pk_u32 EVEN = 0x00ff00ffu;
  const pk_u32 even = (bytes & EVEN) * power & EVEN, odd = (bytes >> 8 & EVEN) * power & EVEN;
  return (even * 3 >> 8 & EVEN) | (odd * 3 & 0xff00ff00u);
}
PKD pk_u32 power_of_three(pk_u32 p) { return p == 0 ? 1 : p == 1 ? 3 : p == 2 ? 9 : p == 3 ? 27 : 81; }
template <> struct Sixteens<TYPE_TQ1_0> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part levels = {0, 48, 0}, last = {48, 4, 48}, scale = {52, 2, 52};
    Four r;
    if (g == 15) {
      const pk_u32 w = b.word(last, 0);
      PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = less(digits(w, power_of_three(i)), 1);
    } else {
      // Five digits of 32 bytes, then five of sixteen.
      const pk_u32 at = g < 10 ? g % 2 * 16 : 32, power = power_of_three(g < 10 ? g / 2 : g - 10);
      PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = less(digits(b.word(levels, at + 4 * i), power), 1);
    }
    return signed_sixteen(r, low_half(b.half(scale, 0)));
  }
};
