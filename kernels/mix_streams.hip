// Residual streams read as one row, each value through the sigmoid of a gate of its own.
#include "args/mix_streams.h"
#include "include/elements.h"
#include "include/functions.h"
#include "include/quads.h"

// `sum` is zero; `x(s)` and `gate(s)` are those of stream s. AHEAD streams are loaded at a time.
template <int AHEAD, class T, class X, class Gate> PKD T mixed(pk_u32 streams, T sum, X x, Gate gate) {
  PK_ROLLED for (pk_u32 first = 0; first < streams; first += AHEAD) {
    T values[AHEAD], gates[AHEAD];
    PK_UNROLL for (int j = 0; j < AHEAD; j++) {
      const pk_u32 s = first + j < streams ? first + j : streams - 1;
      values[j] = x(s);
      gates[j] = gate(s);
    }
    pk_in_turn();
    PK_UNROLL for (int j = 0; j < AHEAD; j++)
      if (first + j < streams) sum = plus(sum, times(values[j], each(gates[j], sigmoid)));
  }
  return sum;
}

// Any layout, a thread an element.
PK_KERNEL(mix_streams_any, 256, mix_streams_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  const Place at = place_of(n, p.out);
  auto x = [&](pk_u32 s) { return load(p.x, at.i[0], s, at.i[1], 0); };
  auto gate = [&](pk_u32 s) { return load(p.gate, at.i[0], s, at.i[1], 0); };
  store_at(p.out, at, mixed<1>(p.x.shape[1], 0.0f, x, gate));
}

// Rows in groups of four floats, a thread a group.
// VGPRs: at most 64
PK_KERNEL(mix_streams_rows, 256, mix_streams_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out) / 4) return;
  const Place at = place_of_quad(n, p.out);
  auto x = [&](pk_u32 s) { return quad(row_of(p.x, s, at.i[1], 0), at.i[0]); };
  auto gate = [&](pk_u32 s) { return quad(row_of(p.gate, s, at.i[1], 0), at.i[0]); };
  put_quad(row_of(p.out, at.i[1], 0, 0), at.i[0], mixed<4>(p.x.shape[1], quad_of(0), x, gate));
}
