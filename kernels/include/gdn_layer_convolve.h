// Convolution, SiLU and the norms of q and k for many tokens, to scratch memory, head by head. A wave takes 128 channels, four
// a lane, through a run of tokens, so factors and inputs are loaded once.
#pragma once
#include "include/gdn_chunks.h"
#include "include/gdn_step.h"

constexpr int CONVOLVE_THREADS = 128, RUN = 16;

// The last inputs of four channels before a token, the oldest first, from the rows before it or from the history.
PKD void open_window(const gdn_layer_args &p, const Segment &s, pk_u32 t, pk_u32 c, pk_f4 *past) {
  const pk_u32 since = t - s.row;
  PK_UNROLL for (int i = 0; i < TAPS - 1; i++) {
    const pk_u32 steps = TAPS - 1 - i;
    if (steps <= since) past[i] = *(const pk_f4 *)(row_of(p.x, t - steps, 0, 0) + c * 4);
    else
      PK_UNROLL for (int j = 0; j < 4; j++) past[i][j] = past_of(p, s, c + j, steps - since);
  }
}

template <int D, class Number> PKD void convolve_layer(const gdn_layer_args &p) {
  constexpr int LANES = D / 4;
  if (!segments_hold_wave(p.common, p.segments, layer_bounds(p), pk_bx() == 0 && pk_by() == 0)) return;
  const pk_u32 channels = p.x.shape[0], at = (pk_bx() * 4 + pk_wave()) * 128 + pk_lane() * 4;
  // Lanes behind the last channel go along.
  const pk_u32 c = at < channels ? at : channels - 4, first = pk_by() * RUN;
  const pk_u32 last = first + RUN < p.x.shape[1] ? first + RUN : p.x.shape[1];
  pk_f4 taps[4], past[TAPS - 1];
  PK_UNROLL for (int j = 0; j < 4; j++) taps[j] = taps_of(p, c + j);
  Segment own = {};
  PK_ROLLED for (pk_u32 t = first; t < last; t++) {
    if (t < own.row || t - own.row >= own.count) {
      own = segment_of(p.segments, t);
      if (own.count > 0) open_window(p, own, t, c, past);
    }
    if (own.count == 0) continue;
    const pk_f4 x = *(const pk_f4 *)(row_of(p.x, t, 0, 0) + c * 4);
    pk_f4 y;
    PK_UNROLL for (int j = 0; j < 4; j++)
      y[j] = silu(past[0][j] * taps[j][0] + past[1][j] * taps[j][1] + past[2][j] * taps[j][2] + x[j] * taps[j][3]);
    past[0] = past[1];
    past[1] = past[2];
    past[2] = x;
    const float square = team_sum<LANES>(across(y, y));
    if (c / D < 2 * p.key_heads) {
      const float factor = unit_factor(square, p.l2_eps, p.form);
      PK_UNROLL for (int j = 0; j < 4; j++) y[j] *= factor;
    }
    if (at < channels) put_four(mixed_row<D, Number>(p, c / D, t) + c % D, y);
  }
}
