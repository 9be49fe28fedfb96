// The weighted sum of what experts give, and of the one that all tokens use.
#pragma once
#include "include/functions.h"
#include "include/quads.h"

// `sum` is zero, `weight(s)` and `given(s)` are those of the expert at place s, `extra()` is what the one of all gives. AHEAD
// are loaded at a time.
template <int AHEAD, class P, class T, class Weight, class Given, class Extra>
PKD T expert_sum(const P &p, pk_u32 token, T sum, Weight weight, Given given, Extra extra) {
  const pk_u32 slots = p.x.shape[1];
  PK_ROLLED for (pk_u32 first = 0; first < slots; first += AHEAD) {
    T x[AHEAD];
    float w[AHEAD];
    PK_UNROLL for (int j = 0; j < AHEAD; j++) {
      const pk_u32 s = first + j < slots ? first + j : slots - 1;
      x[j] = given(s);
      w[j] = weight(s);
    }
    // All are on their way before the first is used.
    pk_in_turn();
    PK_UNROLL for (int j = 0; j < AHEAD; j++)
      if (first + j < slots) sum = plus(sum, scaled(x[j], w[j]));
  }
  return is_bound(p.extra) ? plus(sum, scaled(extra(), sigmoid(load(p.gate, 0, token, 0, 0)))) : sum;
}

// Group k of a token's row.
template <class P> PKD pk_f4 expert_sum_quad(const P &p, pk_u32 token, pk_u32 k) {
  const char *weights = row_of(p.weights, token, 0, 0);
  auto weight = [&](pk_u32 s) { return *(const float *)(weights + s * p.weights.stride[0]); };
  auto given = [&](pk_u32 s) { return quad(row_of(p.x, s, token, 0), k); };
  auto extra = [&] { return quad(row_of(p.extra, token, 0, 0), k); };
  return expert_sum<8>(p, token, quad_of(0), weight, given, extra);
}
