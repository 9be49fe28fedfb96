// The gated norm of rows of outputs, a wave a row; then, by further blocks, the history's new tail: by now nobody reads the
// old one.
#pragma once
#include "include/gdn_chunks.h"

constexpr int FINISH_THREADS = 128;

// What a wave needs of memory for the gated norm of a row of outputs.
template <int D> struct NormOperands {
  float gates[D / 32], weights[D / 32];
};
template <int D> PKD NormOperands<D> norm_operands(const gdn_layer_args &p, pk_u32 head, pk_u32 t) {
  const char *z = row_of(p.z, head, t, 0);
  NormOperands<D> operands;
  PK_UNROLL for (int i = 0; i < D / 32; i++) {
    const pk_u32 at = (pk_lane() + 32 * i) * 4;
    operands.gates[i] = *(const float *)(z + at);
    operands.weights[i] = *(const float *)(p.weight.data + at);
  }
  return operands;
}
// The gated norm of a row of outputs, by a wave.
template <int D>
PKD void norm_output(const gdn_layer_args &p, pk_u32 head, pk_u32 t, const float *o, const NormOperands<D> &operands) {
  const pk_u32 lane = pk_lane();
  char *out = row_of(p.out, head, t, 0);
  float values[D / 32], square = 0;
  PK_UNROLL for (int i = 0; i < D / 32; i++) {
    values[i] = o[lane + 32 * i];
    square += values[i] * values[i];
  }
  const float factor = pk_rsqrt(pk_wsum(square) * (1.0f / D) + p.eps);
  PK_UNROLL for (int i = 0; i < D / 32; i++)
    *(float *)(out + (lane + 32 * i) * 4) = values[i] * factor * operands.weights[i] * opening(p.act, operands.gates[i]);
}

template <int D> PKD void finish_row(const gdn_layer_args &p, pk_u32 row) {
  const pk_u32 heads = p.out.shape[1], head = row % heads, t = row / heads, lane = pk_lane();
  if (t >= p.out.shape[2]) return;
  // Which lane's segment holds the row, if any does.
  pk_u32 held = 0, wrong = 0;
  for (pk_u32 e = lane; e < p.segments.shape[1]; e += 32) {
    Segment s = segment_at(p.segments, e);
    if (!segment_holds(p.common, s, layer_bounds(p), false)) wrong = 2;
    if (t >= s.row && t - s.row < s.count) held = 1;
  }
  if (wave_or(held | wrong) != 1) return;
  norm_output<D>(p, head, t, output_row(p, head, t, D), norm_operands<D>(p, head, t));
}

template <int D> PKD void finish_layer(const gdn_layer_args &p) {
  const pk_u32 rows = p.out.shape[1] * p.out.shape[2], norms = (rows + 3) / 4, block = pk_bx();
  if (block < norms) {
    finish_row<D>(p, block * 4 + pk_wave());
    return;
  }
  const pk_u32 blocks = (p.x.shape[0] + FINISH_THREADS - 1) / FINISH_THREADS, entry = (block - norms) / blocks;
  const pk_u32 c = (block - norms) % blocks * FINISH_THREADS + pk_tid();
  if (!segments_hold_wave(p.common, p.segments, layer_bounds(p), block == norms)) return;
  Segment s = segment_at(p.segments, entry);
  if (s.count > 0 && c < p.x.shape[0]) put_tail(p, s, c);
}
