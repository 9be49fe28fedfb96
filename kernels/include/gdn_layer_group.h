// A whole layer for many short segments in one launch: a block takes the value heads that share a key head. Nobody else reads
// their channels' history, so the block leaves its tail; and it has whole rows of outputs, so it takes their norm. Each wave
// passes over eight value channels at a time, lanes as in gdn_step.h, without waiting for the others: what waits for memory is
// hidden by other waves, so there are few registers and k and q are read from workgroup memory again and again.
#pragma once
#include "include/gdn_layer_finish.h"
#include "include/gdn_layer_step.h"

// Most value heads of a block.
constexpr int GROUP_HEADS = 8;

template <int D> struct LayerGroup {
  static constexpr int THREADS = D < 64 ? 128 : 256;
  // Value channels of the block's waves at a time, and how often that is a head.
  static constexpr int CHANNELS = THREADS / 4, PASSES = D / CHANNELS;

  const gdn_layer_args &p;
  // The key head, how many value heads share it, and the segment.
  pk_u32 key, heads;
  Segment own;
  // Rows of q, k, and of each value head, which its outputs replace; and what heads keep and write.
  float *staged;
  Strength *strengths;

  __device__ pk_u32 head(pk_u32 i) const { return p.heads == 0 ? key + i * p.key_heads : key * heads + i; }
  // The channel that is staged at a place.
  __device__ pk_u32 channel(pk_u32 place) const {
    const pk_u32 row = place / D;
    return (row == 0 ? key : row == 1 ? p.key_heads + key : 2 * p.key_heads + head(row - 2)) * D + place % D;
  }
  // An input so many steps before token n.
  __device__ float input(pk_u32 c, pk_u32 n, pk_u32 steps) const {
    if (steps > n) return past_of(p, own, c, steps - n);
    return *(const float *)(row_of(p.x, own.row + n - steps, 0, 0) + c * 4);
  }
  // Convolves token n; behind the last one leaves the history's tail.
  __device__ void stage(pk_u32 n) const {
    PK_ROLLED for (pk_u32 e = pk_tid(); e < (2 + heads) * D; e += THREADS) {
      const pk_u32 c = channel(e);
      const pk_f4 taps = taps_of(p, c);
      float x[TAPS], sum = 0;
      PK_UNROLL for (int i = 0; i < TAPS; i++) {
        x[i] = input(c, n, TAPS - 1 - i);
        sum += x[i] * taps[i];
      }
      staged[e] = silu(sum);
      if (n + 1 == own.count) leave(c, x);
    }
    if (pk_tid() < heads) {
      const pk_u32 h = head(pk_tid());
      strengths[pk_tid()] = strength_of(gates_of(p, h, own.row + n), head_gates(p, h));
    }
  }
  __device__ void leave(pk_u32 c, const float *x) const {
    const pk_u32 reach = p.history.shape[0];
    float *line = (float *)row_of(p.history, c, own.slot, 0);
    PK_UNROLL for (int i = 1; i < TAPS; i++)
      if (i + reach >= TAPS) line[i + reach - TAPS] = x[i];
  }
  // Passes over the states of all heads with token n. Between tokens they lie in the newest plane.
  __device__ void turn(pk_u32 n) const {
    const int lane = pk_lane(), part = lane % STEP_LANES, channel0 = pk_wave() * 8 + lane / STEP_LANES;
    const pk_u32 newest = own.slot * p.snapshots, plane = own.count - 1 - n;
    const pk_u32 from = n == 0 ? first_plane(own, p.snapshots) - newest : 0;
    float qq = 0, kk = 0, kq = 0;
    PK_UNROLL for (int j = 0; j < Step<D>::QUADS; j++) {
      const pk_f4 q = quad(0, j), k = quad(1, j);
      qq += across(q, q), kk += across(k, k), kq += across(k, q);
    }
    const float k_unit = unit_factor(team_sum<STEP_LANES>(kk), p.l2_eps, p.form);
    const float q_unit = unit_factor(team_sum<STEP_LANES>(qq), p.l2_eps, p.form) * pk_rsqrt((float)D);
    kq = team_sum<STEP_LANES>(kq) * k_unit * q_unit;
    PK_ROLLED for (pk_u32 pass = 0; pass < heads * PASSES; pass++) {
      const pk_u32 i0 = pass / PASSES, first = pass % PASSES * CHANNELS;
      char *planes = row_of(p.state, first, head(i0), newest) + channel0 * D * 4 + part * 16;
      float *values = staged + (2 + i0) * D + first + channel0;
      Piece<D> s;
      if (n == 0 && own.fresh) clear_piece<D>(s);
      else read_piece<D>(s, planes + from * p.state.stride[3]);
      float held[STEP_SLOTS] = {}, asked[STEP_SLOTS] = {};
      // Else k and q would be kept in registers from the last pass.
      pk_wave_sync();
      PK_UNROLL for (int j = 0; j < Step<D>::QUADS; j++) {
        const pk_f4 q = quad(0, j), k = quad(1, j);
        PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++) held[i] += across(s.at[i][j], k), asked[i] += across(s.at[i][j], q);
      }
      const float decay = strengths[i0].decay, beta = strengths[i0].beta;
      float result = 0, writes[STEP_SLOTS];
      PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++) {
        held[i] = team_sum<STEP_LANES>(held[i]) * k_unit, asked[i] = team_sum<STEP_LANES>(asked[i]) * q_unit;
        const float delta = (values[i * STEP_BESIDE] - decay * held[i]) * beta;
        if (part == i) result = decay * asked[i] + delta * kq;
        writes[i] = delta * k_unit;
      }
      // All lanes of a channel have read its value.
      pk_wave_sync();
      if (part < STEP_SLOTS) values[part * STEP_BESIDE] = result;
      PK_UNROLL for (int j = 0; j < Step<D>::QUADS; j++) {
        const pk_f4 k = quad(1, j);
        PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++)
          PK_UNROLL for (int x = 0; x < 4; x++) s.at[i][j][x] = decay * s.at[i][j][x] + writes[i] * k[x];
      }
      write_piece<D>(s, planes);
      if (plane > 0 && plane < p.snapshots) write_piece<D>(s, planes + plane * p.state.stride[3]);
    }
  }
  // A lane's group of a row of q (0) or k (1).
  __device__ pk_f4 quad(int row, int j) const {
    return *(const pk_f4 *)(staged + row * D + (j * STEP_LANES + pk_lane() % STEP_LANES) * 4);
  }
};

// A block the value heads of a key head (x) of a segment (y).
template <int D> PKD void group_layer(const gdn_layer_args &p) {
  constexpr pk_u32 WAVES = LayerGroup<D>::THREADS / 32;
  PK_LDS float staged[(2 + GROUP_HEADS) * D];
  PK_LDS Strength strengths[GROUP_HEADS];
  if (!table_holds(p)) return;
  const LayerGroup<D> group = {p, (pk_u32)pk_bx(), p.out.shape[1] / p.key_heads, segment_at(p.segments, pk_by()), staged, strengths};
  PK_ROLLED for (pk_u32 n = 0; n < group.own.count; n++) {
    group.stage(n);
    // Staged before it is used.
    pk_sync();
    group.turn(n);
    // What the first norms need is on its way through the barrier.
    const pk_u32 wave = pk_wave(), t = group.own.row + n;
    NormOperands<D> operands = {};
    if (wave < group.heads) operands = norm_operands<D>(p, group.head(wave), t);
    // All outputs are there, and the states of this token.
    pk_sync();
    PK_ROLLED for (pk_u32 i = wave; i < group.heads; i += WAVES) {
      norm_output<D>(p, group.head(i), t, staged + (2 + i) * D, operands);
      if (i + WAVES < group.heads) operands = norm_operands<D>(p, group.head(i + WAVES), t);
    }
    // Used before the next token is staged.
    pk_sync();
  }
}
