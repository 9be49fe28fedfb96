// The recurrence of heads in aligned rows, for `gated_delta_net` and `gdn_core`: operands and results as in gdn_tensors.h.
#pragma once
#include "include/gdn_step.h"
#include "include/gdn_tensors.h"

template <class Args, int D> struct TensorsStep {
  const Args &p;
  // The head, the first of the block's value channels, the first row of tokens, the sequence, and where old states begin.
  pk_u32 head, channel, row, seq, entry;
  // Planes of the pool: the first of the slot, and the one to start from.
  pk_u32 base, from;
  // The head of the head's keys.
  pk_u32 key;

  // What thread and round stage of a token; the last again where there is nothing more.
  __device__ float fetch(int round, pk_u32 n) const {
    pk_u32 e = pk_tid() + round * STEP_THREADS, t = row + n;
    if (e >= 2 * D) {
      e = e < Step<D>::STAGED ? e - 2 * D : STEP_CHANNELS - 1;
      return *(const float *)(row_of(p.v, head, t, seq) + (channel + e) * 4);
    }
    const View &from = e < D ? p.q : p.k;
    return *(const float *)(row_of(from, key, t, seq / (p.v.shape[3] / p.q.shape[3])) + e % D * 4);
  }
  __device__ float mix(int, float x) const { return x; }
  __device__ Strength gates(pk_u32 n) const {
    return {decay_of(p, head, row + n, seq, 0), beta_of(p, head, row + n, seq)};
  }
  __device__ Strength strength(Strength gates) const { return gates; }
  __device__ float unit(float square) const { return unit_of(p, square); }
  __device__ void put(pk_u32 n, int j, float x) const {
    pk_u64 at = (((pk_u64)seq * p.v.shape[2] + n) * p.v.shape[1] + head) * D;
    char *to = is_bound(p.segments) ? row_of(p.out, head, row + n, 0) : p.out.data + at * 4;
    *(float *)(to + (channel + j) * 4) = x;
  }
  __device__ const char *old() const {
    if (p.gathered) return (const char *)work_row(p, {channel, head, seq}, entry);
    return row_of(p.state, channel, head, from);
  }
  __device__ bool holds() const { return true; }
  __device__ char *plane(pk_u32 plane) const {
    if (is_bound(p.segments)) return row_of(p.state_out, channel, head, base + plane);
    pk_u64 outputs = (pk_u64)p.v.shape[2] * p.v.shape[3] * p.v.shape[1];
    pk_u64 at = ((pk_u64)plane * p.v.shape[3] + seq) * p.v.shape[1] + head;
    return p.out.data + (outputs + at * D + channel) * D * 4;
  }
  // Without segments the newest state also goes where the operand says.
  __device__ void leave(const Piece<D> &s, int place) const {
    if (is_bound(p.segments) || !is_bound(p.state_out)) return;
    write_piece<D>(s, row_of(p.state_out, channel, head, seq) + place);
  }
};

// A block a piece of a head (x) of a sequence or segment (y).
template <int D, class Args> PKD void step_tensors(const Args &p, int segments_port) {
  PK_LDS float staged[2 * Step<D>::STAGED];
  constexpr pk_u32 PIECES = D / STEP_CHANNELS;
  pk_u32 head = pk_bx() / PIECES, entry = pk_by(), count = p.v.shape[2];
  const pk_u32 key = key_head(p.heads, head, p.v.shape[1], p.q.shape[1]);
  TensorsStep<Args, D> net = {p, head, pk_bx() % PIECES * STEP_CHANNELS, 0, entry, entry, 0, entry, key};
  bool zero = false;
  if (is_bound(p.segments)) {
    pk_u32 planes = p.state.shape[3] < p.state_out.shape[3] ? p.state.shape[3] : p.state_out.shape[3];
    Bounds bounds = {p.v.shape[2], planes / p.snapshots, segments_port};
    if (!segments_hold_wave(p.common, p.segments, bounds, pk_bx() == 0 && entry == 0)) return;
    Segment s = segment_at(p.segments, entry);
    if (s.count == 0) return;
    net.row = s.row;
    net.seq = 0;
    net.base = s.slot * p.snapshots;
    net.from = first_plane(s, p.snapshots);
    count = s.count;
    zero = s.fresh;
  }
  step<D>(net, 0, count, zero, p.snapshots, staged);
}
