// Numbers as halves in pairs, eight to 16 bytes.
#pragma once
#include "include/quads.h"
#include "include/weights.h"

PKD pk_u32 pair_of(float low, float high) { return pk_to_f16(low) | (pk_u32)pk_to_f16(high) << 16; }
PKD Four eight_of(pk_f4 a, pk_f4 b) {
  return {{pair_of(a[0], a[1]), pair_of(a[2], a[3]), pair_of(b[0], b[1]), pair_of(b[2], b[3])}};
}
PKD void put_four(void *p, const Four &v) { *(pk_f4 *)p = __builtin_bit_cast(pk_f4, v); }

// Halves end at 65504; infinities and NaN stay what they are.
PKD float within_halves(float x) {
  if (!pk_is_finite(x)) return x;
  return pk_max(pk_min(x, 65504.0f), -65504.0f);
}
PKD pk_f4 within_halves(pk_f4 v) {
  return each(v, [](float x) { return within_halves(x); });
}
// Writes all rows of x to scratch memory as halves, one behind the other: a thread eight values.
PKD void put_halves(const View &x, char *scratch, pk_u64 n) {
  if (n >= elements(x) / 8) return;
  const Place at = place_in(n, x.shape[0] / 8, x);
  const char *row = row_at(x, at);
  const pk_f4 a = quad(row, 2 * at.i[0]), b = quad(row, 2 * at.i[0] + 1);
  put_four(scratch + 16 * n, eight_of(within_halves(a), within_halves(b)));
}
