// Merges the sums of a head's chunks: a block a head and token.
#pragma once
#include "include/attention_chunks.h"
#include "include/block.h"

constexpr int MERGE_THREADS = 256, MOST_CHUNKS = 512;

template <int D, class Args> PKD void attend_merge(const Args &p) {
  constexpr int QUADS = D / 4, TEAMS = MERGE_THREADS / QUADS;
  PK_LDS float shares[MOST_CHUNKS];
  PK_LDS float sums[MERGE_THREADS * 4];
  PK_LDS float peaks[8];
  PK_LDS float totals[8];
  const pk_u32 lane = pk_tid(), head = pk_bx(), token = pk_by();
  const Seen seen = find_place(p, token, false);
  if (!seen.held) return;
  // Tokens of one tile have their chunks in common.
  const pk_u32 span = span_of(p, p.tiled ? longest(p) : seen.visible), used = (seen.visible + span - 1) / span;
  const float *base = sums_of<D>(p, token, head, 0);
  float peak = LOWEST;
  for (pk_u32 c = lane; c < used; c += MERGE_THREADS) peak = higher(peak, base[c * (D + 4) + D]);
  const float most = block_higher<MERGE_THREADS>(peak, peaks);
  float part = 0;
  for (pk_u32 c = lane; c < used; c += MERGE_THREADS) {
    shares[c] = shrunk(base[c * (D + 4) + D], most);
    part += shares[c] * base[c * (D + 4) + D + 1];
  }
  // Has a barrier, so that all shares are seen.
  const float total = block_sum<MERGE_THREADS>(part, totals);
  pk_f4 sum;
  PK_UNROLL for (int i = 0; i < 4; i++) sum[i] = 0;
  for (pk_u32 c = lane / QUADS; c < used; c += TEAMS) {
    pk_f4 x = *(const pk_f4 *)(base + c * (D + 4) + lane % QUADS * 4);
    PK_UNROLL for (int i = 0; i < 4; i++) sum[i] += shares[c] * x[i];
  }
  ((pk_f4 *)sums)[lane] = sum;
  pk_sync();
  if (lane >= QUADS) return;
  PK_UNROLL for (int t = 1; t < TEAMS; t++)
    PK_UNROLL for (int i = 0; i < 4; i++) sum[i] += sums[(t * QUADS + lane) * 4 + i];
  PK_UNROLL for (int i = 0; i < 4; i++) sum[i] = total == 0.0f ? 0.0f : sum[i] / total;
  put_result(p, head, token, lane, sum);
}
