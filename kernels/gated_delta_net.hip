// The gated delta rule, token by token.
#include "args/gated_delta_net.h"
#include "include/gdn_tensors.h"
#include "include/gdn_tensors_step.h"

const int SEGMENTS_PORT = 6;

// One decay a head, or some that its key channels share in turn.
PKD float decay_of(const gated_delta_net_args &p, pk_u32 head, pk_u32 t, pk_u32 seq, pk_u32 i) {
  return pk_exp(number(p.gate, p.gate.shape[0] == 1 ? 0 : i % p.gate.shape[0], head, t, seq));
}
PKD float beta_of(const gated_delta_net_args &p, pk_u32 head, pk_u32 t, pk_u32 seq) {
  return number(p.beta, 0, head, t, seq);
}
PKD float unit_of(const gated_delta_net_args &, float) { return 1.0f; }

// Old states to scratch memory.
PK_KERNEL(gated_delta_net_load, 256, gated_delta_net_args) {
  Channel c;
  pk_u32 entry;
  if (channel_of(p, c, entry)) load_row(p, c, entry, entry, false, SEGMENTS_PORT);
}

// Any layout, states in scratch memory.
PK_KERNEL(gated_delta_net_any, 256, gated_delta_net_args) {
  Channel c;
  pk_u32 entry;
  if (!channel_of(p, c, entry)) return;
  Entry place = entry_at(p, entry);
  Tensors<gated_delta_net_args> net = {p, place.base};
  recur(net, c, work_row(p, c, entry), place.first, place.count, p.snapshots);
}

// One decay a head, aligned rows.
// VGPRs: at most 80
PK_KERNEL(gated_delta_net_heads_32, 128, gated_delta_net_args) { step_tensors<32>(p, SEGMENTS_PORT); }
// VGPRs: at most 80
PK_KERNEL(gated_delta_net_heads_64, 128, gated_delta_net_args) { step_tensors<64>(p, SEGMENTS_PORT); }
// VGPRs: at most 120
PK_KERNEL(gated_delta_net_heads_128, 128, gated_delta_net_args) { step_tensors<128>(p, SEGMENTS_PORT); }
