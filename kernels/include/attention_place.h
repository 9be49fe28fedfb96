// Which slot of the cache a row of queries reads, and how much of it.
#pragma once
#include "include/segments.h"

constexpr int ATTENTION_SEGMENTS = 5;

template <class Args> PKD Bounds attention_bounds(const Args &p) {
  return {p.q.shape[1], p.k.shape[3], ATTENTION_SEGMENTS};
}
// How many cells a token of a segment sees, by its number in the segment. A position beyond the cache must not wrap around.
PKD pk_u32 cells_of(pk_u32 cells, pk_u32 before, pk_u32 number) {
  pk_u64 seen = (pk_u64)before + number + 1;
  return seen < cells ? (pk_u32)seen : cells;
}

// The place of a row of queries; `held` is false where no segment holds it.
struct Seen {
  pk_u32 slot, visible;
  bool held;
};
// Found by the lanes of a wave together: the same for all of them.
template <class Args> PKD Seen find_place(const Args &p, pk_u32 row, bool reports) {
  // One lane at most finds it, so sums over lanes say what it found.
  pk_u32 slot = 0, seen = 0;
  for (pk_u32 e = pk_lane(); e < p.segments.shape[1]; e += 32) {
    Segment s = segment_at(p.segments, e);
    if (!segment_holds(p.common, s, attention_bounds(p), reports)) continue;
    if (row < s.row || row - s.row >= s.count) continue;
    slot = s.slot;
    seen = cells_of(p.k.shape[1], s.position, row - s.row) + 1;
  }
  slot = wave_or(slot);
  seen = wave_or(seen);
  return {slot, seen - 1, seen != 0};
}
