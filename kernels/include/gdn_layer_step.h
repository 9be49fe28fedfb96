// The recurrence of a layer. For few tokens it convolves for itself, since a launch is dearer than a few channels more; after
// a launch that has convolved it reads the scratch memory.
#pragma once
#include "include/gdn_chunks.h"
#include "include/gdn_step.h"

PKD bool table_holds(const gdn_layer_args &p) {
  return segments_hold_wave(p.common, p.segments, layer_bounds(p), pk_bx() == 0 && pk_by() == 0);
}

PKD Strength strength_of(Gates token, HeadGates head) { return {pk_exp(log_decay_of(token, head)), sigmoid(token.beta)}; }

// A convolution's factors and its last inputs for one channel.
struct Window {
  pk_f4 taps;
  float past[TAPS - 1];
  __device__ void open(const gdn_layer_args &p, const Segment &s, pk_u32 c) {
    taps = taps_of(p, c);
    PK_UNROLL for (int i = 0; i < TAPS - 1; i++) past[i] = past_of(p, s, c, TAPS - 1 - i);
  }
  // Takes the next input.
  __device__ float next(float x) {
    float sum = past[0] * taps[0] + past[1] * taps[1] + past[2] * taps[2] + x * taps[3];
    past[0] = past[1];
    past[1] = past[2];
    past[2] = x;
    return silu(sum);
  }
};

// MIXED: rows are convolved already, to numbers of this type, those of q and k normalised.
template <int D, bool MIXED, class Number> struct LayerStep {
  const gdn_layer_args &p;
  // The head, the first of the block's value channels, and the plane to start from.
  pk_u32 head, channel, from;
  Segment own;
  // The head of its keys, and what it has of gates.
  pk_u32 key;
  HeadGates of_head;
  Window windows[MIXED ? 1 : Step<D>::ROUNDS];

  // The channel that thread and round stage; the last again where there is nothing more.
  __device__ pk_u32 staged(int round) const {
    pk_u32 e = pk_tid() + round * STEP_THREADS;
    if (e < D) return key * D + e;
    if (e < 2 * D) return (p.key_heads + key) * D + e - D;
    e = e < Step<D>::STAGED ? e - 2 * D : STEP_CHANNELS - 1;
    return (2 * p.key_heads + head) * D + channel + e;
  }
  __device__ void open() {
    if constexpr (!MIXED) PK_UNROLL for (int r = 0; r < Step<D>::ROUNDS; r++) windows[r].open(p, own, staged(r));
  }
  __device__ float fetch(int round, pk_u32 n) const {
    pk_u32 c = staged(round), t = own.row + n;
    if constexpr (MIXED) return (float)mixed_row<D, Number>(p, c / D, t)[c % D];
    else return *(const float *)(row_of(p.x, t, 0, 0) + c * 4);
  }
  __device__ float mix(int round, float x) {
    if constexpr (MIXED) return x;
    else return windows[round].next(x);
  }
  __device__ Gates gates(pk_u32 n) const { return gates_of(p, head, own.row + n); }
  __device__ Strength strength(Gates gates) const { return strength_of(gates, of_head); }
  __device__ float unit(float square) const { return MIXED ? 1.0f : unit_factor(square, p.l2_eps, p.form); }
  __device__ void put(pk_u32 n, int j, float x) const { output_row(p, head, own.row + n, D)[channel + j] = x; }
  __device__ const char *old() const { return row_of(p.state, channel, head, from); }
  __device__ bool holds() const { return MIXED || table_holds(p); }
  __device__ char *plane(pk_u32 plane) const { return row_of(p.state, channel, head, own.slot * p.snapshots + plane); }
  __device__ void leave(const Piece<D> &, int) const {}
};

// A block a piece of a head (x) of a segment (y).
template <int D, bool MIXED, class Number> PKD void step_layer(const gdn_layer_args &p) {
  PK_LDS float staged[2 * Step<D>::STAGED];
  constexpr pk_u32 PIECES = D / STEP_CHANNELS;
  // A few tokens' first loads do not wait for the whole table.
  if (MIXED && !table_holds(p)) return;
  const Segment own = inside(segment_at(p.segments, pk_by()), layer_bounds(p));
  pk_u32 first = MIXED && p.matrices != 0 ? chunked(own.count, p.snapshots) : 0;
  if (first >= own.count) return;
  const pk_u32 head = pk_bx() / PIECES, key = key_head(p.heads, head, p.out.shape[1], p.key_heads);
  LayerStep<D, MIXED, Number> net = {
    p, head, pk_bx() % PIECES * STEP_CHANNELS, first_plane(own, p.snapshots), own, key, head_gates(p, head)};
  // After chunks the state goes on from the newest plane.
  if (first > 0) net.from = own.slot * p.snapshots;
  net.open();
  step<D>(net, first, own.count, first == 0 && own.fresh, p.snapshots, staged);
}
