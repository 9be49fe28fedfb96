// The gated delta rule with the norms of q and k, the decay and the write strength.
#include "args/gdn_core.h"
#include "include/gdn_tensors.h"
#include "include/gdn_tensors_step.h"

const int ROWS_PORT = 8, SEGMENTS_PORT = 9;

PKD float decay_of(const gdn_core_args &p, pk_u32 head, pk_u32 t, pk_u32 seq, pk_u32) {
  float raw = number(p.alpha, head, t, seq, 0) + number(p.dt, head, 0, 0, 0);
  return pk_exp(number(p.a, head, 0, 0, 0) * softplus(raw));
}
PKD float beta_of(const gdn_core_args &p, pk_u32 head, pk_u32 t, pk_u32 seq) {
  return sigmoid(number(p.beta, head, t, seq, 0));
}
PKD float unit_of(const gdn_core_args &p, float square) { return unit_factor(square, p.eps, p.form); }

// Old states to scratch memory, before any is stored: a gather may read what another sequence overwrites.
PK_KERNEL(gdn_core_load, 256, gdn_core_args) {
  Channel c;
  pk_u32 entry;
  if (!channel_of(p, c, entry)) return;
  pk_i64 plane = entry;
  bool fresh = false;
  if (is_bound(p.rows)) {
    plane = load_index(p.rows, entry, 0, 0, 0);
    if (plane < 0 || plane >= p.state.shape[3]) {
      if (c.j == 0 && c.head == 0) report(p.common, ROWS_PORT, plane, p.state.shape[3]);
      fresh = true;
    }
  }
  load_row(p, c, entry, (pk_u32)plane, fresh, SEGMENTS_PORT);
}

// Any layout, states in scratch memory.
PK_KERNEL(gdn_core_any, 256, gdn_core_args) {
  Channel c;
  pk_u32 entry;
  if (!channel_of(p, c, entry)) return;
  Entry place = entry_at(p, entry);
  float *row = work_row(p, c, entry);
  Tensors<gdn_core_args> net = {p, place.base};
  recur(net, c, row, place.first, place.count, p.snapshots);
  if (is_bound(p.segments) || !is_bound(p.state_out)) return;
  Line to = line_of(p.state_out, c.j, c.head, c.seq);
  PK_ROLLED for (pk_u32 i = 0; i < p.v.shape[0]; i++) to.put(i, row[i]);
}

// Aligned rows.
// VGPRs: at most 80
PK_KERNEL(gdn_core_heads_32, 128, gdn_core_args) { step_tensors<32>(p, SEGMENTS_PORT); }
// VGPRs: at most 80
PK_KERNEL(gdn_core_heads_64, 128, gdn_core_args) { step_tensors<64>(p, SEGMENTS_PORT); }
// VGPRs: at most 120
PK_KERNEL(gdn_core_heads_128, 128, gdn_core_args) { step_tensors<128>(p, SEGMENTS_PORT); }
