// The delta rule token by token with a piece of the state in registers: 32 value channels a block of four waves, eight a wave,
// two a lane: a channel's row is spread over eight lanes in groups of four, so that a sum over it takes three exchanges. The
// state is read and written once; each token costs one pass over registers. Rows of a head's state lie behind each other. `net`
// says where operands and states lie: fetch, mix, gates, strength, unit, put, the first byte of the block's channels in the old state
// and in a plane that is kept; whether its table of segments holds, which is asked when loads are on their way, so that they
// must lie inside in any case; and it keeps the last state where else it should be.
#pragma once
#include "include/gdn_heads.h"

constexpr int STEP_THREADS = 128;
// Value channels of a block.
constexpr int STEP_CHANNELS = 32;
// Lanes of a channel, channels side by side in a wave, and channels of a lane.
constexpr int STEP_LANES = 8, STEP_BESIDE = 4, STEP_SLOTS = 2;

// How much of the state survives a token, and how much of what it lacks is written.
struct Strength {
  float decay, beta;
};

template <int D> struct Step {
  // Groups of four of a lane in a channel's row.
  static constexpr int QUADS = D / 4 / STEP_LANES;
  // Staged for a token: q, k, and the values of the block's channels.
  static constexpr int STAGED = 2 * D + STEP_CHANNELS;
  static constexpr int ROUNDS = (STAGED + STEP_THREADS - 1) / STEP_THREADS;
};

// Sums over the lanes that share a channel.
template <int LANES> PKD float team_sum(float x) {
  x += pk_xor<1>(x);
  x += pk_xor<2>(x);
  x += pk_xor<4>(x);
  if constexpr (LANES > 8) x += pk_xor<8>(x);
  if constexpr (LANES > 16) x += pk_xor<16>(x);
  return x;
}
PKD float across(pk_f4 a, pk_f4 b) { return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]); }

// A lane's part of a state, between memory and registers.
template <int D> struct Piece {
  pk_f4 at[STEP_SLOTS][Step<D>::QUADS];
};
template <int D> PKD int piece_place(int slot, int quad) { return slot * STEP_BESIDE * D * 4 + quad * STEP_LANES * 16; }
template <int D> PKD void read_piece(Piece<D> &s, const char *from) {
  PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++)
    PK_UNROLL for (int j = 0; j < Step<D>::QUADS; j++) s.at[i][j] = *(const pk_f4 *)(from + piece_place<D>(i, j));
}
template <int D> PKD void clear_piece(Piece<D> &s) {
  PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++)
    PK_UNROLL for (int j = 0; j < Step<D>::QUADS; j++)
      PK_UNROLL for (int x = 0; x < 4; x++) s.at[i][j][x] = 0;
}
template <int D> PKD void write_piece(const Piece<D> &s, char *to) {
  PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++)
    PK_UNROLL for (int j = 0; j < Step<D>::QUADS; j++) *(pk_f4 *)(to + piece_place<D>(i, j)) = s.at[i][j];
}

// Tokens from `first` on, of `count`. `zero`: the state starts as zeros. `staged` is workgroup memory for two tokens.
template <int D, class Net> PKD void step(Net &net, pk_u32 first, pk_u32 count, bool zero, pk_u32 snapshots, float *staged) {
  typedef Step<D> S;
  const int lane = pk_lane(), part = lane % STEP_LANES, channel0 = pk_wave() * 8 + lane / STEP_LANES;
  const int place = channel0 * D * 4 + part * 16;
  float ahead[S::ROUNDS];
  decltype(net.gates(first)) gates = {};
  // Operands before states: they are needed first, and loads come back in order.
  if (first < count) {
    PK_UNROLL for (int r = 0; r < S::ROUNDS; r++) ahead[r] = net.fetch(r, first);
    gates = net.gates(first);
  }
  Piece<D> s;
  if (!zero) read_piece<D>(s, net.old() + place);
  else clear_piece<D>(s);
  if (!net.holds()) return;
  const float scale = pk_rsqrt((float)D);
  PK_ROLLED for (pk_u32 n = first; n < count; n++) {
    // Two buffers take turns, so one barrier a token is enough.
    float *stage = staged + (n & 1) * S::STAGED;
    PK_UNROLL for (int r = 0; r < S::ROUNDS; r++) {
      int e = pk_tid() + r * STEP_THREADS;
      float x = net.mix(r, ahead[r]);
      if (e < S::STAGED) stage[e] = x;
    }
    const Strength strength = net.strength(gates);
    const float decay = strength.decay, beta = strength.beta;
    pk_sync();
    // The next token's operands are on their way while this one is computed.
    if (n + 1 < count) {
      PK_UNROLL for (int r = 0; r < S::ROUNDS; r++) ahead[r] = net.fetch(r, n + 1);
      gates = net.gates(n + 1);
    }
    pk_f4 q[S::QUADS], k[S::QUADS];
    float qq = 0, kk = 0, kq = 0;
    PK_UNROLL for (int j = 0; j < S::QUADS; j++) {
      const int at = (j * STEP_LANES + part) * 4;
      q[j] = *(const pk_f4 *)(stage + at), k[j] = *(const pk_f4 *)(stage + D + at);
      qq += across(q[j], q[j]), kk += across(k[j], k[j]), kq += across(k[j], q[j]);
    }
    // Sums are scaled, not the rows.
    const float k_unit = net.unit(team_sum<STEP_LANES>(kk));
    const float q_unit = net.unit(team_sum<STEP_LANES>(qq)) * scale;
    kq = team_sum<STEP_LANES>(kq) * k_unit * q_unit;
    // What a channel holds for k and for q gives the write, and by it the output: no second pass.
    float result = 0;
    PK_UNROLL for (int i = 0; i < STEP_SLOTS; i++) {
      float held = 0, asked = 0;
      PK_UNROLL for (int j = 0; j < S::QUADS; j++) held += across(s.at[i][j], k[j]), asked += across(s.at[i][j], q[j]);
      held = team_sum<STEP_LANES>(held) * k_unit, asked = team_sum<STEP_LANES>(asked) * q_unit;
      const float delta = (stage[2 * D + channel0 + i * STEP_BESIDE] - decay * held) * beta;
      if (part == i) result = decay * asked + delta * kq;
      const float write = delta * k_unit;
      PK_UNROLL for (int j = 0; j < S::QUADS; j++)
        PK_UNROLL for (int x = 0; x < 4; x++) s.at[i][j][x] = decay * s.at[i][j][x] + write * k[j][x];
    }
    if (part < STEP_SLOTS) net.put(n, channel0 + part * STEP_BESIDE, result);
    const pk_u32 plane = count - 1 - n;
    if (plane < snapshots) write_piece<D>(s, net.plane(plane) + place);
  }
  net.leave(s, place);
}
