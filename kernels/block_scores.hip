// Scores of a cache's blocks by one key each, a wave an element of the result.
#include "args/block_scores.h"
#include "include/elements.h"
#include "include/segments.h"

const int SEGMENTS_PORT = 2;

PK_KERNEL(block_scores_any, 256, block_scores_args) {
  const pk_u64 n = thread_number(256, p.groups_x) / 32;
  if (n >= elements(p.out)) return;
  const Bounds bounds = {p.q.shape[2], p.keys.shape[2], SEGMENTS_PORT};
  if (!segments_hold_wave(p.common, p.segments, bounds, n == 0)) return;
  const Place i = place_of(n, p.out);
  const pk_u32 block = i.i[0], token = i.i[1], depth = p.q.shape[0];
  const Segment own = segment_of(p.segments, token);
  if (own.count == 0) return;
  // A position beyond every cache must not wrap around.
  const pk_u64 seen = (pk_u64)own.position + (token - own.row) + 1;
  float score = pk_float(0xff800000u);
  if (block < seen / p.block) {
    score = 0;
    PK_ROLLED for (pk_u32 h = 0; h < p.q.shape[1]; h++) {
      float part = 0;
      for (pk_u32 d = pk_lane(); d < depth; d += 32)
        part += load(p.q, d, h, token, 0) * load(p.keys, d, block, own.slot, 0);
      part = pk_wsum(part);
      score += part <= 0.0f ? 0.0f : part;
    }
  }
  if (pk_lane() == 0) store_at(p.out, i, score);
}
