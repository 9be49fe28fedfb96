// Rows of logits and what their parameters say. See weft_core::kernels::sample, which defines the draw.
#pragma once
#include "include/view.h"

const pk_u32 NONE = 0xffffffffu;

struct Draw {
  // Logits that are looked at; candidates, 0 for all; whether the largest is taken as it is.
  pk_u32 width, candidates;
  bool greedy;
  float temperature;
  pk_u32 seed_low, seed_high, counter;
};
PKD Draw draw_of(const View &params, pk_u32 row, pk_u32 width) {
  const char *words = row_of(params, row, 0, 0);
  auto word = [&](int w) { return read32(words + w * params.stride[0]); };
  Draw d;
  // A temperature below the smallest normal number, by its bits: devices may flush the others to zero.
  const pk_u32 bits = word(0), k = word(1), limit = word(5);
  d.greedy = bits > 0x7f800000u || bits < 0x00800000u;
  d.temperature = pk_float(bits);
  d.candidates = k < 64 ? k : 64;
  d.seed_low = word(2);
  d.seed_high = word(3);
  d.counter = word(4);
  d.width = limit == 0 || limit > width ? width : limit;
  return d;
}

// The order of numbers as an order of integers; 0 for what is not finite. Both zeros are equal.
PKD pk_u32 key_of(float x) {
  if (!pk_is_finite(x)) return 0;
  pk_u32 magnitude = pk_bits(x) & 0x7fffffffu;
  return pk_bits(x) >> 31 ? 0x80000000u - magnitude : 0x80000000u + magnitude;
}
PKD float number_of(pk_u32 key) {
  return pk_float(key >= 0x80000000u ? key - 0x80000000u : (0x80000000u - key) | 0x80000000u);
}

// -ln(-ln u) of an index. Near 1 the inner logarithm comes from a series: its absolute error would swamp it.
PKD pk_u32 hash(const Draw &d, pk_u32 index) {
  pk_u32 x = d.seed_low * 1664525u + 1013904223u, y = d.seed_high * 1664525u + 1013904223u;
  pk_u32 z = d.counter * 1664525u + 1013904223u, w = index * 1664525u + 1013904223u;
  PK_UNROLL for (int round = 0; round < 2; round++) {
    x += y * w;
    y += z * x;
    z += x * y;
    w += y * z;
    if (round == 0) {
      x ^= x >> 16;
      y ^= y >> 16;
      z ^= z >> 16;
      w ^= w >> 16;
    }
  }
  return w;
}
PKD float gumbel(const Draw &d, pk_u32 index) {
  float u = ((float)(hash(d, index) >> 9) + 0.5f) * 1.1920928955078125e-7f;
  float w = 1.0f - u, s = w / (2.0f - w), q = s * s;
  float tail = 1.0f / 3 + q * (1.0f / 5 + q * (1.0f / 7 + q * (1.0f / 9 + q * (1.0f / 11 + q * (1.0f / 13)))));
  float series = 2.0f * (s + s * q * tail);
  return -pk_log(u < 0.5f ? -pk_log(u) : series);
}
