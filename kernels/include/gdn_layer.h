// What all forms of a layer share: where segments may lie, and the history's new tail.
#pragma once
#include "args/gdn_layer.h"
#include "include/segments.h"

// Most taps of the convolution that the forms for heads are written for. Fewer are the last ones, the others being zero.
constexpr int TAPS = 4;
PKD pk_f4 taps_of(const gdn_layer_args &p, pk_u32 c) {
  const float *line = (const float *)row_of(p.conv, c, 0, 0);
  const int none = TAPS - (int)p.conv.shape[0];
  pk_f4 taps;
  PK_UNROLL for (int i = 0; i < TAPS; i++) taps[i] = i < none ? 0.0f : line[i - none];
  return taps;
}
// An input so many steps before a segment's first token.
PKD float past_of(const gdn_layer_args &p, const Segment &s, pk_u32 c, pk_u32 steps) {
  const pk_u32 reach = p.history.shape[0], back = history_back(s, steps, reach);
  return back == 0 ? 0.0f : ((const float *)row_of(p.history, c, s.slot, 0))[reach - back];
}

PKD Bounds layer_bounds(const gdn_layer_args &p) {
  pk_u32 states = p.state.shape[3] / p.snapshots, slots = p.history.shape[2];
  return {p.x.shape[1], slots < states ? slots : states, 2};
}

// Stores the last inputs of a channel for the next convolution, in an order in which none is overwritten before it is read.
PKD void put_tail(const gdn_layer_args &p, const Segment &s, pk_u32 c) {
  pk_u32 reach = p.history.shape[0];
  char *line = row_of(p.history, c, s.slot, 0);
  PK_ROLLED for (pk_u32 n = 0; n < reach; n++) {
    const pk_u32 t = tail_place(s, n, reach), steps = reach - 1 - t;
    pk_u32 value = 0;
    if (steps < s.count) value = read32(row_of(p.x, s.row + s.count - 1 - steps, 0, 0) + c * p.x.stride[0]);
    else if (pk_u32 back = history_back(s, steps - s.count + 1, reach)) value = read32(line + (reach - back) * p.history.stride[0]);
    write32(line + t * p.history.stride[0], value);
  }
}
