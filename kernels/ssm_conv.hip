// A causal depthwise convolution over tokens, a thread an element of the result.
#include "args/ssm_conv.h"
#include "include/elements.h"
#include "include/segments.h"

const int SEGMENTS_PORT = 3;

// An input `steps` tokens before a row of a segment: from the ubatch, from the history, or zero.
PKD float past(const ssm_conv_args &p, const Segment &own, pk_u32 c, pk_u32 row, pk_u32 steps) {
  const pk_u32 since = row - own.row;
  if (steps <= since) return load(p.x, c, row - steps, 0, 0);
  const pk_u32 back = history_back(own, steps - since, p.history.shape[0]);
  return back == 0 ? 0.0f : load(p.history, p.history.shape[0] - back, c, own.slot, 0);
}

PK_KERNEL(ssm_conv_any, 256, ssm_conv_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  const Place i = place_of(n, p.out);
  const pk_u32 c = i.i[0], t = i.i[1], taps = p.weight.shape[0];
  float sum = 0;
  if (is_bound(p.segments)) {
    if (!segments_hold(p.common, p.segments, {p.x.shape[1], p.history.shape[2], SEGMENTS_PORT}, n == 0)) return;
    const Segment own = segment_of(p.segments, t);
    if (own.count == 0) return;
    for (pk_u32 k = 0; k < taps; k++) sum += past(p, own, c, t, (taps - 1 - k) * p.dilation) * load(p.weight, k, c, 0, 0);
  } else {
    for (pk_u32 k = 0; k < taps; k++) sum += load(p.x, t + k * p.dilation, c, i.i[2], 0) * load(p.weight, k, c, 0, 0);
  }
  store_at(p.out, i, sum);
}
