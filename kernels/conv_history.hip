// The last inputs of each segment, a thread a channel and a segment. Words are moved, never computed with.
#include "args/conv_history.h"
#include "include/segments.h"

const int SEGMENTS_PORT = 1;

PK_KERNEL(conv_history_any, 256, conv_history_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  const pk_u32 channels = p.x.shape[0], reach = p.history_out.shape[0];
  if (n >= (pk_u64)channels * p.segments.shape[1]) return;
  if (!segments_hold(p.common, p.segments, {p.x.shape[1], p.history_out.shape[2], SEGMENTS_PORT}, n == 0)) return;
  const Segment own = segment_at(p.segments, (pk_u32)(n / channels));
  if (own.count == 0) return;
  const pk_u32 c = (pk_u32)(n % channels);
  char *history = row_of(p.history_out, c, own.slot, 0);
  for (pk_u32 k = 0; k < reach; k++) {
    const pk_u32 t = tail_place(own, k, reach), steps = reach - 1 - t;
    pk_u32 word = 0;
    if (steps < own.count) word = read32(row_of(p.x, own.row + own.count - 1 - steps, 0, 0) + c * p.x.stride[0]);
    else if (pk_u32 back = history_back(own, steps - own.count + 1, reach)) word = read32(history + (reach - back) * p.history_out.stride[0]);
    write32(history + t * p.history_out.stride[0], word);
  }
}
