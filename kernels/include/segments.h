// The table of segments: which rows of a ubatch belong to which sequence.
#pragma once
#include "include/view.h"

struct Segment {
  pk_u32 slot, row, count, position, plane;
  bool fresh;
};
PKD pk_u32 segment_word(const View &table, pk_u32 entry, int word) {
  return read32(row_of(table, entry, 0, 0) + word * table.stride[0]);
}
PKD Segment segment_at(const View &table, pk_u32 entry) {
  const char *row = row_of(table, entry, 0, 0);
  const pk_i64 step = table.stride[0];
  pk_u32 words[6];
  // One question for all words, so that their loads do not wait for each other.
  if ((((pk_u64)row | (pk_u64)step) & 3) == 0)
    PK_UNROLL for (int i = 0; i < 6; i++) words[i] = *(const pk_u32 *)(row + i * step);
  else
    PK_UNROLL for (int i = 0; i < 6; i++) words[i] = read32(row + i * step);
  return {words[0], words[1], words[2], words[3], words[5], words[4] != 0};
}

// How far from the end of a history of so many inputs the one lies that is `steps` (from 1) before a segment's first token; 0 if
// there is none. A segment that starts some planes back passes over as many of the newest.
PKD pk_u32 history_back(const Segment &s, pk_u32 steps, pk_u32 reach) {
  const pk_u32 over = s.fresh ? reach : s.plane;
  return over >= reach || steps > reach - over ? 0 : steps + over;
}
// The n-th place of a history to be stored anew, in an order in which none is overwritten before it is read.
PKD pk_u32 tail_place(const Segment &s, pk_u32 n, pk_u32 reach) { return s.count >= s.plane ? n : reach - 1 - n; }

// Where segments may lie: rows of the ubatch, slots of the pools, and the port that a wrong one is reported for.
struct Bounds {
  pk_u32 rows, slots;
  int port;
};
PKD bool segment_holds(const Common &common, const Segment &s, const Bounds &bounds, bool reports) {
  if (s.count == 0) return true;
  pk_u64 end = (pk_u64)s.row + s.count;
  if (end > bounds.rows) {
    // An end beyond 31 bits is as far outside as any.
    if (reports) report(common, bounds.port, end > 0x7fffffffu ? 0x7fffffff : (pk_i64)end, bounds.rows);
    return false;
  }
  if (s.slot >= bounds.slots) {
    if (reports) report(common, bounds.port, s.slot, bounds.slots);
    return false;
  }
  return true;
}
// A segment moved inside: what may be read of its first token and its state before the table is known to hold.
PKD Segment inside(Segment s, const Bounds &bounds) {
  if (bounds.rows == 0 || bounds.slots == 0) s.count = 0;
  if (s.row >= bounds.rows) s.row = bounds.rows - 1;
  if (s.slot >= bounds.slots) s.slot = bounds.slots - 1;
  return s;
}
// Whether every segment lies inside; one thread of a dispatch reports the first that does not.
PKD bool segments_hold(const Common &common, const View &table, const Bounds &bounds, bool reports) {
  PK_ROLLED for (pk_u32 e = 0; e < table.shape[1]; e++)
    if (!segment_holds(common, segment_at(table, e), bounds, reports)) return false;
  return true;
}
// Bits that any lane of a wave has.
PKD pk_u32 wave_or(pk_u32 x) {
  x |= pk_xor<1>(x);
  x |= pk_xor<2>(x);
  x |= pk_xor<4>(x);
  x |= pk_xor<8>(x);
  return x | pk_xor<16>(x);
}
// The same, each lane of a wave looking at its part of the table.
PKD bool segments_hold_wave(const Common &common, const View &table, const Bounds &bounds, bool reports) {
  pk_u32 wrong = 0;
  for (pk_u32 e = pk_lane(); e < table.shape[1]; e += 32)
    if (!segment_holds(common, segment_at(table, e), bounds, reports)) wrong = 1;
  return wave_or(wrong) == 0;
}
// The segment of a row; without tokens if there is none.
PKD Segment segment_of(const View &table, pk_u32 row) {
  PK_ROLLED for (pk_u32 e = 0; e < table.shape[1]; e++) {
    Segment s = segment_at(table, e);
    if (row >= s.row && row - s.row < s.count) return s;
  }
  Segment none = {};
  return none;
}
