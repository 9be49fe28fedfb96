// What the experts of each token give, weighted and summed, and that of an expert that all use.
#include "args/expert_sum.h"
#include "include/elements.h"
#include "include/functions.h"
#include "include/quads.h"

// `sum` is zero, `weight(s)` and `given(s)` are those of the expert at place s, `extra()` is what the one of all gives. AHEAD
// are loaded at a time.
template <int AHEAD, class T, class Weight, class Given, class Extra>
PKD T expert_sum(const expert_sum_args &p, pk_u32 token, T sum, Weight weight, Given given, Extra extra) {
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

// Any layout, a thread an element.
PK_KERNEL(expert_sum_any, 256, expert_sum_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  const Place at = place_of(n, p.out);
  const pk_u32 o = at.i[0], token = at.i[1];
  auto weight = [&](pk_u32 s) { return load(p.weights, s, token, 0, 0); };
  auto given = [&](pk_u32 s) { return load(p.x, o, s, token, 0); };
  auto extra = [&] { return load(p.extra, o, token, 0, 0); };
  store_at(p.out, at, expert_sum<1>(p, token, 0.0f, weight, given, extra));
}

// Rows in groups of four floats, a thread a group.
// VGPRs: at most 64
PK_KERNEL(expert_sum_rows, 256, expert_sum_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out) / 4) return;
  const Place at = place_of_quad(n, p.out);
  const pk_u32 k = at.i[0], token = at.i[1];
  const char *weights = row_of(p.weights, token, 0, 0);
  auto weight = [&](pk_u32 s) { return *(const float *)(weights + s * p.weights.stride[0]); };
  auto given = [&](pk_u32 s) { return quad(row_of(p.x, s, token, 0), k); };
  auto extra = [&] { return quad(row_of(p.extra, token, 0, 0), k); };
  put_quad(row_of(p.out, token, 0, 0), k, expert_sum<8>(p, token, quad_of(0), weight, given, extra));
}
