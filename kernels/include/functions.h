// Functions of one value, guarded where the device's own would overflow or lose a NaN.
#pragma once
#include "include/pk.h"

PKD float sigmoid(float x) {
  if (pk_is_nan(x)) return x;
  return x < -88.0f ? 0.0f : 1.0f / (1.0f + pk_exp(-x));
}
PKD float silu(float x) { return x * sigmoid(x); }
// The function of a gate: 0 silu, 1 sigmoid.
PKD float opening(pk_u32 kind, float x) { return kind == 0 ? silu(x) : sigmoid(x); }

// ln(1 + y) without cancellation: the rounding of 1 + y is divided out.
PKD float log_of_one_plus(float y) {
  float u = pk_opaque(1.0f + y);
  return u == 1.0f ? y : pk_log(u) * (y / (u - 1.0f));
}
PKD float softplus(float x) {
  if (pk_is_nan(x) || x > 20.0f) return x;
  return log_of_one_plus(pk_exp(x));
}
PKD float hyperbolic_tangent(float x) {
  if (pk_is_nan(x)) return x;
  // The quotient cancels near zero, where a few terms of the series are enough.
  if (x < 0.1f && x > -0.1f) return x * (1.0f - x * x * (0.33333334f - x * x * 0.13333334f));
  float bounded = x > 15.0f ? 15.0f : x < -15.0f ? -15.0f : x;
  return 1.0f - 2.0f / (pk_exp(2.0f * bounded) + 1.0f);
}

// Kinds in the order of the contract of `unary`.
PKD float unary(pk_u32 kind, float x) {
  if (pk_is_nan(x)) return x;
  switch (kind) {
  case 0: return silu(x);
  case 1: return sigmoid(x);
  case 2: return softplus(x);
  case 3: return x > 0 ? x : 0.0f;
  // (1 + tanh(u)) / 2 is sigmoid(2u), which does not cancel.
  case 4: return x * sigmoid(1.5957691216f * x * (1.0f + 0.044715f * x * x));
  case 5: return pk_exp(x);
  case 6: return hyperbolic_tangent(x);
  case 7: return -x;
  case 8: return x < 0 ? -x : x;
  case 9: return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
  case 10: return pk_sqrt(x);
  case 11: return x * x;
  default: return pk_log(x);
  }
}
