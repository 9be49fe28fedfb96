// What the experts of each token give, weighted and summed, and that of an expert that all use.
#include "args/expert_sum.h"
#include "include/elements.h"
#include "include/expert_sum.h"

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
  put_quad(row_of(p.out, token, 0, 0), k, expert_sum_quad(p, token, k));
}
