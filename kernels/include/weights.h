// Weights of tuned products, unit by unit. A unit is what 16 bytes of levels hold: one or two runs of consecutive values (16 of
// a quantised type). A quantised value is step * level - least, both of its run. Every load is of whole aligned words, so rows
// must begin at multiples of 16 bytes, and types whose blocks are not whole multiples of that must be repacked.
//   fetch(row, u)     what of a row makes unit u, as loaded
//   levels(w, u, run) sixteen levels of a run as bytes, signed where SIGNED
//   steps(w, u, run)  their step and least
//   place(u, run)     which values of the row they are
#pragma once
#include "include/codewords.h"
#include "include/quant.h"

PKD Four four_at(const char *p) { return __builtin_bit_cast(Four, *(const pk_f4 *)p); }
PKD pk_u32 word_at(const char *p) { return *(const pk_u32 *)p; }
PKD pk_u32 half_word_at(const char *p) { return *(const pk_u16 *)p; }
PKD float byte_of(pk_u32 w, int i) { return (float)(w >> (8 * i) & 255u); }

// A row, with the blocks of the whole repacked row and the first that belongs to the view.
struct WeightRow {
  const char *at;
  pk_u32 blocks, first;
};
PKD WeightRow weight_row(const View &v, pk_u32 i1, pk_u32 i2, pk_u32 i3) { return {row_of(v, i1, i2, i3), v.blocks, v.first}; }
// Bytes before the plane of a part.
PKD pk_u32 plane_at(const WeightRow &r, pk_u32 before) { return (r.blocks * before + 15) & ~15u; }

PKD Four nibbles(const Four &q, int run) {
  Four r;
  PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] = q.w[i] >> (4 * run) & 0x0f0f0f0fu;
  return r;
}

// What quantised types share.
struct Quantised {
  static const bool QUANTISED = true, SIGNED = false;
  static const int RUNS = 2, VALUES = 16;
};

// A block of a repacked row.
struct PlaneBlock {
  const WeightRow &row;
  pk_u32 block;
  __device__ const char *at(Part part, pk_u32 i) const { return row.at + plane_at(row, part.before) + block * part.bytes + i; }
  __device__ pk_u32 word(Part part, pk_u32 i) const { return word_at(at(part, i)); }
  __device__ pk_u32 half(Part part, pk_u32 i) const { return half_word_at(at(part, i)); }
  __device__ pk_u32 byte(Part part, pk_u32 i) const { return *(const pk_u8 *)at(part, i); }
};
// Types of few bits: two sixteens a unit, decoded when they are fetched.
template <int TYPE> struct Weights : Quantised {
  static const bool SIGNED = Sixteens<TYPE>::SIGNED;
  static const pk_u32 UNITS = block_values(TYPE) / 32;
  struct Words {
    Sixteen run[2];
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const PlaneBlock block = {r, r.first + u / UNITS};
    const pk_u32 first = u % UNITS * 2;
    return {{Sixteens<TYPE>::of(block, first), Sixteens<TYPE>::of(block, first + 1)}};
  }
  PKD Four levels(const Words &w, pk_u32, int run) { return w.run[run].levels; }
  PKD Steps steps(const Words &w, pk_u32, int run) { return w.run[run].steps; }
  PKD pk_u32 place(pk_u32 u, int run) { return 32 * u + 16 * run; }
};

template <> struct Weights<TYPE_F32> {
  static const bool QUANTISED = false;
  static const int RUNS = 1, VALUES = 4;
  typedef Four Words;
  PKD Words fetch(const WeightRow &r, pk_u32 u) { return four_at(r.at + 16 * u); }
  PKD float value(const Words &w, int i) { return pk_float(w.w[i]); }
  PKD pk_u32 place(pk_u32 u, int) { return 4 * u; }
};
template <> struct Weights<TYPE_F16> {
  static const bool QUANTISED = false;
  static const int RUNS = 1, VALUES = 8;
  typedef Four Words;
  PKD Words fetch(const WeightRow &r, pk_u32 u) { return four_at(r.at + 16 * u); }
  PKD float value(const Words &w, int i) { return i & 1 ? high_half(w.w[i / 2]) : low_half(w.w[i / 2]); }
  PKD pk_u32 place(pk_u32 u, int) { return 8 * u; }
};
template <> struct Weights<TYPE_BF16> {
  static const bool QUANTISED = false;
  static const int RUNS = 1, VALUES = 8;
  typedef Four Words;
  PKD Words fetch(const WeightRow &r, pk_u32 u) { return four_at(r.at + 16 * u); }
  PKD float value(const Words &w, int i) { return pk_float(i & 1 ? w.w[i / 2] & 0xffff0000u : w.w[i / 2] << 16); }
  PKD pk_u32 place(pk_u32 u, int) { return 8 * u; }
};

// Half a block a unit.
template <> struct Weights<TYPE_Q8_0> : Quantised {
  static const bool SIGNED = true;
  static const int RUNS = 1;
  struct Words {
    Four q;
    pk_u32 d;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    return {four_at(r.at + 32 * r.first + 16 * u), half_word_at(r.at + plane_at(r, 32) + 2 * (r.first + u / 2))};
  }
  PKD Four levels(const Words &w, pk_u32, int) { return w.q; }
  PKD Steps steps(const Words &w, pk_u32, int) { return {low_half(w.d), 0}; }
  PKD pk_u32 place(pk_u32 u, int) { return 16 * u; }
};

// A block a unit: sixteen low nibbles, sixteen high ones.
template <bool HAS_LEAST> struct WeightsQ4 : Quantised {
  struct Words {
    Four q;
    pk_u32 d;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const pk_u32 block = r.first + u;
    const char *steps = r.at + plane_at(r, 16);
    return {four_at(r.at + 16 * block), HAS_LEAST ? word_at(steps + 4 * block) : half_word_at(steps + 2 * block)};
  }
  PKD Four levels(const Words &w, pk_u32, int run) { return nibbles(w.q, run); }
  PKD Steps steps(const Words &w, pk_u32, int) {
    float d = low_half(w.d);
    return {d, HAS_LEAST ? -high_half(w.d) : 8 * d};
  }
  PKD pk_u32 place(pk_u32 u, int run) { return 32 * u + 16 * run; }
};
template <> struct Weights<TYPE_Q4_0> : WeightsQ4<false> {};
template <> struct Weights<TYPE_Q4_1> : WeightsQ4<true> {};

// The same with a word of fifth bits.
template <bool HAS_LEAST> struct WeightsQ5 : Quantised {
  struct Words {
    Four q;
    pk_u32 h, d;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const pk_u32 block = r.first + u;
    const char *steps = r.at + plane_at(r, 20);
    return {four_at(r.at + 16 * block), word_at(r.at + plane_at(r, 16) + 4 * block),
            HAS_LEAST ? word_at(steps + 4 * block) : half_word_at(steps + 2 * block)};
  }
  PKD Four levels(const Words &w, pk_u32, int run) {
    Four r = nibbles(w.q, run);
    // Bit n of four becomes bit 4 of byte n.
    PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] |= (w.h >> (16 * run + 4 * i) & 15u) * 0x02040810u & 0x10101010u;
    return r;
  }
  PKD Steps steps(const Words &w, pk_u32, int) {
    float d = low_half(w.d);
    return {d, HAS_LEAST ? -high_half(w.d) : 16 * d};
  }
  PKD pk_u32 place(pk_u32 u, int run) { return 32 * u + 16 * run; }
};
template <> struct Weights<TYPE_Q5_0> : WeightsQ5<false> {};
template <> struct Weights<TYPE_Q5_1> : WeightsQ5<true> {};

// Six-bit scales and leasts of the two groups that a unit of Q4_K or Q5_K touches, a byte each, by the words of a block's head.
struct SixPairs {
  pk_u32 scales, leasts;
};
PKD SixPairs six_pairs(const Four &head, pk_u32 u) {
  // Groups 0 to 3 have six bits in a byte each, groups 4 to 7 four bits here and two above those of the first four.
  const pk_u32 shift = 8 * (u & 2);
  const pk_u32 a = head.w[1] >> shift, b = head.w[2] >> shift, c = head.w[3] >> shift;
  const pk_u32 scales = (c & 0x0f0fu) | (a >> 2 & 0x3030u), leasts = (c >> 4 & 0x0f0fu) | (b >> 2 & 0x3030u);
  const bool late = (u & 4) != 0;
  return {late ? scales : a & 0x3f3fu, late ? leasts : b & 0x3f3fu};
}
PKD Steps six_steps(const Four &head, pk_u32 u, int run) {
  const SixPairs pairs = six_pairs(head, u);
  return {low_half(head.w[0]) * byte_of(pairs.scales, run), high_half(head.w[0]) * byte_of(pairs.leasts, run)};
}
// An eighth of a block a unit: 16 values of a group of 32 and the 16 at their place in the next group.
PKD pk_u32 place_k(pk_u32 u, int run) { return 32 * ((u & ~1u) + run) + 16 * (u & 1); }

template <> struct Weights<TYPE_Q4_K> : Quantised {
  struct Words {
    Four q, head;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const char *block = r.at + 144 * (u >> 3);
    return {four_at(block + 16 + 16 * (u & 7)), four_at(block)};
  }
  PKD Four levels(const Words &w, pk_u32, int run) { return nibbles(w.q, run); }
  PKD Steps steps(const Words &w, pk_u32 u, int run) { return six_steps(w.head, u, run); }
  PKD pk_u32 place(pk_u32 u, int run) { return place_k(u, run); }
};
template <> struct Weights<TYPE_Q5_K> : Quantised {
  struct Words {
    Four q, head, h;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const char *block = r.at + 176 * (u >> 3);
    return {four_at(block + 48 + 16 * (u & 7)), four_at(block), four_at(block + 16 + 16 * (u & 1))};
  }
  PKD Four levels(const Words &w, pk_u32 u, int run) {
    Four r = nibbles(w.q, run);
    PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] |= (w.h.w[i] >> ((u & 6) + run) & 0x01010101u) << 4;
    return r;
  }
  PKD Steps steps(const Words &w, pk_u32 u, int run) { return six_steps(w.head, u, run); }
  PKD pk_u32 place(pk_u32 u, int run) { return place_k(u, run); }
};
// An eighth of a block a unit: 16 values of a group of 32 and the 16 at their place in the group after the next.
template <> struct Weights<TYPE_Q6_K> : Quantised {
  struct Words {
    Four q, h;
    pk_u32 scales[2], d;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const pk_u32 block = r.first + (u >> 3), half = u >> 2 & 1;
    const char *scales = r.at + plane_at(r, 192) + 16 * block + 8 * half;
    return {four_at(r.at + 128 * block + 16 * (u & 7)),
            four_at(r.at + plane_at(r, 128) + 64 * block + 32 * half + 16 * (u & 1)),
            {word_at(scales), word_at(scales + 4)},
            half_word_at(r.at + plane_at(r, 208) + 2 * block)};
  }
  PKD Four levels(const Words &w, pk_u32 u, int run) {
    Four r = nibbles(w.q, run);
    PK_UNROLL for (int i = 0; i < 4; i++) r.w[i] |= (w.h.w[i] >> ((u & 2) + 4 * run) & 0x03030303u) << 4;
    return r;
  }
  PKD Steps steps(const Words &w, pk_u32 u, int run) {
    float step = low_half(w.d) * (float)(signed char)(w.scales[run] >> (8 * (u & 3)));
    return {step, 32 * step};
  }
  PKD pk_u32 place(pk_u32 u, int run) {
    return 256 * (u >> 3) + 128 * (u >> 2 & 1) + 64 * run + 32 * (u >> 1 & 1) + 16 * (u & 1);
  }
};

// A run, ready to be taken four values at a time.
template <int TYPE, bool QUANTISED = Weights<TYPE>::QUANTISED> struct Run;
template <int TYPE> struct Run<TYPE, false> {
  typename Weights<TYPE>::Words words;
  PKD Run of(const typename Weights<TYPE>::Words &w, pk_u32, int) { return {w}; }
  __device__ pk_f4 quad(int j) const {
    pk_f4 v;
    PK_UNROLL for (int i = 0; i < 4; i++) v[i] = Weights<TYPE>::value(words, 4 * j + i);
    return v;
  }
};
template <int TYPE> struct Run<TYPE, true> {
  Four levels;
  Steps steps;
  // Signed bytes become unsigned ones by a least of 128 steps: those are converted by one instruction each.
  PKD Run of(const typename Weights<TYPE>::Words &w, pk_u32 u, int run) {
    Run r = {Weights<TYPE>::levels(w, u, run), Weights<TYPE>::steps(w, u, run)};
    if (Weights<TYPE>::SIGNED) {
      PK_UNROLL for (int i = 0; i < 4; i++) r.levels.w[i] ^= 0x80808080u;
      r.steps.least = 128 * r.steps.step;
    }
    return r;
  }
  __device__ pk_f4 quad(int j) const {
    pk_f4 v;
    PK_UNROLL for (int i = 0; i < 4; i++) v[i] = pk_fma(byte_of(levels.w[j], i), steps.step, -steps.least);
    return v;
  }
};
