// Rotary embedding. A pair turns by position · base^(−2i/dims) / 2π turns. Positions reach far, so turns are counted with
// twice the precision and cut to less than one; then an eighth of a turn at most is left for sine and cosine.
#pragma once
#include "include/view.h"

// What a kernel's arguments say of the angles; the ports and attributes have the same names in all of them. `tokens`: how many
// positions an axis has.
struct Angles {
  const View &positions, &divisors;
  pk_u32 kind, dims, tokens;
  float scale, yarn_mix, magnitude;
  pk_u32 sections[4];
  // log2(base) · 2 / dims; the first pair of the YaRN ramp and its length.
  double pitch;
  float ramp_first, ramp_span;
};
template <class Args> PKD Angles angles_of(const Args &p, pk_u32 tokens) {
  double pitch = __builtin_bit_cast(double, (pk_u64)p.pitch_high << 32 | p.pitch_low);
  return {p.positions, p.divisors, p.kind, p.dims, tokens, p.frequency_scale, p.yarn_mix, p.magnitude,
          {p.section_t, p.section_h, p.section_w, p.section_e}, pitch, pk_float(p.ramp_first), pk_float(p.ramp_span)};
}

// Pairs of a head, and the two dimensions of one.
PKD pk_u32 pairs_of(const Angles &a, pk_u32 width) { return (a.dims < width ? a.dims : width) / 2; }
struct Pair {
  pk_u32 first, second;
};
PKD Pair pair_at(const Angles &a, pk_u32 i) {
  if (a.kind == 0) return {2 * i, 2 * i + 1};
  return {i, i + a.dims / 2};
}

// Which of a token's four positions a pair uses.
PKD pk_u32 axis_of(const Angles &a, pk_u32 i) {
  if (a.kind != 2) return 0;
  pk_u32 whole = a.sections[0] + a.sections[1] + a.sections[2] + a.sections[3];
  pk_u32 s = i % (whole > 1 ? whole : 1);
  if (s % 3 == 1 && s < 3 * a.sections[1]) return 1;
  if (s % 3 == 2 && s < 3 * a.sections[2]) return 2;
  return s % 3 == 0 && s < 3 * a.sections[0] ? 0 : 3;
}

// 2^x, with a relative error of about 1e-14.
PKD double exp2_double(double x) {
  double whole = pk_rint(x), y = (x - whole) * 0.693147180559945309;
  // The series of e^y, for |y| < 0.35.
  double r = 1.0 / 39916800.0;
  r = r * y + 1.0 / 3628800.0;
  r = r * y + 1.0 / 362880.0;
  r = r * y + 1.0 / 40320.0;
  r = r * y + 1.0 / 5040.0;
  r = r * y + 1.0 / 720.0;
  r = r * y + 1.0 / 120.0;
  r = r * y + 1.0 / 24.0;
  r = r * y + 1.0 / 6.0;
  r = r * y + 0.5;
  r = r * y + 1.0;
  r = r * y + 1.0;
  int exponent = whole > 1000.0 ? 1000 : whole < -1000.0 ? -1000 : (int)whole;
  return r * __builtin_bit_cast(double, (pk_u64)(exponent + 1023) << 52);
}

struct Turn {
  float cosine, sine;
};
// Cosine and sine of pair i for a token, with their magnitude.
PKD Turn turn_of(const Angles &a, pk_u32 i, pk_u32 token) {
  const pk_i64 position = load_index(a.positions, token + axis_of(a, i) * a.tokens, 0, 0, 0);
  double frequency = exp2_double(-(double)i * a.pitch);
  if (is_bound(a.divisors) && i < a.divisors.shape[0]) frequency /= (double)load(a.divisors, i, 0, 0, 0);
  double factor = (double)a.scale;
  if (a.yarn_mix != 0) {
    double ramp = ((double)i - (double)a.ramp_first) / (double)a.ramp_span;
    ramp = ramp < 0 ? 1.0 : ramp > 1 ? 0.0 : 1.0 - ramp;
    double mix = ramp * (double)a.yarn_mix;
    factor = factor * (1.0 - mix) + mix;
  }
  double turns = (double)position * (frequency * factor * 0.159154943091895336);
  float part = (float)(turns - pk_rint(turns));
  float quarters = pk_rint(part * 4.0f);
  float r = (part - quarters * 0.25f) * 6.28318530717958648f, z = r * r;
  float sine = r + r * z * (-0.16666654611f + z * (0.0083321608736f - z * 0.00019515295891f));
  float cosine = 1.0f - 0.5f * z + z * z * (0.04166664568298827f + z * (-0.001388731625493765f + z * 0.00002443315711809948f));
  int quarter = (int)quarters & 3;
  float c = quarter & 1 ? sine : cosine, s = quarter & 1 ? cosine : sine;
  if (quarter == 1 || quarter == 2) c = -c;
  if (quarter >= 2) s = -s;
  return {c * a.magnitude, s * a.magnitude};
}

// Turns item k of a head: a pair, or a dimension that passes through; there are `width - pairs` items. `read(i)` gives
// dimension i, `put(i, x)` takes it. In place it is the same thread that reads and writes.
template <class Read, class Put>
PKD void turn_item(const Angles &a, pk_u32 k, pk_u32 pairs, pk_u32 token, Read read, Put put) {
  if (k >= pairs) {
    put(k + pairs, read(k + pairs));
    return;
  }
  Pair pair = pair_at(a, k);
  Turn turn = turn_of(a, k, token);
  float x = read(pair.first), y = read(pair.second);
  put(pair.first, x * turn.cosine - y * turn.sine);
  put(pair.second, x * turn.sine + y * turn.cosine);
}
