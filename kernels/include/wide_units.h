// What a lane takes of a quantised row at once where columns are rounded to eight bits: a unit, or two of Q4_K that lie side by
// side, since these share a head and the steps of two groups. Runs are of 16 or 32 values. Levels are bytes times 1, or times 16
// where that spares shifts; steps know of it.
//   levels(w, u, run)       all levels of a run, sixteen a part
//   dot4(levels, q, sum)    adds the products of four levels with four rounded values
#pragma once
#include "include/weights.h"

// Sixteen levels each.
template <int PARTS> struct LevelParts {
  Four part[PARTS];
};

template <int TYPE> struct Wide : Weights<TYPE> {
  typedef LevelParts<1> Levels;
  PKD Levels levels(const typename Weights<TYPE>::Words &w, pk_u32 u, int run) { return {{Weights<TYPE>::levels(w, u, run)}}; }
  PKD int dot4(pk_u32 levels, pk_u32 q, int sum) { return pk_dot4((int)levels, (int)q, sum); }
};

// A quarter of a block: 32 values of a group and the 32 of the next group.
template <> struct Wide<TYPE_Q4_K> : Quantised {
  static const int VALUES = 32;
  typedef LevelParts<2> Levels;
  struct Words {
    Four q[2], head;
  };
  PKD Words fetch(const WeightRow &r, pk_u32 u) {
    const char *block = r.at + 144 * (u >> 2), *levels = block + 16 + 32 * (u & 3);
    return {{four_at(levels), four_at(levels + 16)}, four_at(block)};
  }
  PKD pk_u32 place(pk_u32 u, int run) { return 64 * u + 32 * run; }
  PKD Levels levels(const Words &w, pk_u32, int run) {
    Levels all;
    PK_UNROLL for (int part = 0; part < 2; part++)
      PK_UNROLL for (int i = 0; i < 4; i++) all.part[part].w[i] = w.q[part].w[i] & (run == 0 ? 0x0f0f0f0fu : 0xf0f0f0f0u);
    return all;
  }
  PKD Steps steps(const Words &w, pk_u32 u, int run) {
    const SixPairs pairs = six_pairs(w.head, 2 * u);
    Steps s = {low_half(w.head.w[0]) * byte_of(pk_whole(pairs.scales), run),
               high_half(w.head.w[0]) * byte_of(pk_whole(pairs.leasts), run)};
    if (run == 1) s.step *= 0.0625f;
    return s;
  }
  PKD int dot4(pk_u32 levels, pk_u32 q, int sum) { return pk_dot4_unsigned(levels, (int)q, sum); }
};
