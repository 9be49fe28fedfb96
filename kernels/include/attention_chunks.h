// How visible cells are cut into chunks, and where a chunk's sums lie in scratch memory. The number of chunks is fixed, their
// size is not.
#pragma once
#include "include/attention_place.h"
#include "include/attention_softmax.h"

template <class Args> PKD pk_u32 span_of(const Args &p, pk_u32 visible) {
  pk_u32 each = (visible + p.chunks - 1) / p.chunks, units = (each + 63) / 64;
  return (units == 0 ? 1 : units) * 64;
}
// Sums of a row of queries over a chunk: D values, then the largest score and the sum of weights.
template <int D, class Args> PKD float *sums_of(const Args &p, pk_u32 token, pk_u32 head, pk_u32 chunk) {
  return (float *)p.common.scratch + (((pk_u64)token * p.q.shape[2] + head) * p.chunks + chunk) * (D + 4);
}
PKD pk_u32 larger_of(pk_u32 a, pk_u32 b) { return a > b ? a : b; }
// The largest number of cells that a token sees, found by the lanes of a wave together.
template <class Args> PKD pk_u32 longest(const Args &p) {
  pk_u32 most = 0;
  for (pk_u32 e = pk_lane(); e < p.segments.shape[1]; e += 32) {
    Segment s = segment_at(p.segments, e);
    if (s.count == 0 || !segment_holds(p.common, s, attention_bounds(p), false)) continue;
    pk_u32 seen = cells_of(p.k.shape[1], s.position, s.count - 1);
    most = larger_of(most, seen);
  }
  most = larger_of(most, pk_xor<1>(most));
  most = larger_of(most, pk_xor<2>(most));
  most = larger_of(most, pk_xor<4>(most));
  most = larger_of(most, pk_xor<8>(most));
  return larger_of(most, pk_xor<16>(most));
}
