// The delta rule token by token with a piece of the state in registers: 32 value channels a block of four waves, eight a wave,
// a channel's row spread over D / 4 lanes in groups of four. The state is read and written once; each token costs one pass
// over registers. Rows of a
// head's state lie behind each other. `net` says where operands and states lie: fetch, mix, strength, unit, put, and the first
// byte of the block's channels in a plane that is kept; it reads the old state and keeps the last one where else it should be.
#pragma once
#include "include/gdn_heads.h"

constexpr int STEP_THREADS = 128;
// Value channels of a block.
constexpr int STEP_CHANNELS = 32;

// How much of the state survives a token, and how much of what it lacks is written.
struct Strength {
  float decay, beta;
};

template <int D> struct Step {
  static constexpr int LANES = D / 4, BESIDE = 32 / LANES, SLOTS = 8 / BESIDE;
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

// Tokens from `first` on, of `count`. `zero`: the state starts as zeros. `staged` is workgroup memory for two tokens.
// A piece of a state, between memory and registers.
template <int D> PKD void read_piece(pk_f4 *s, const char *from) {
  PK_UNROLL for (int i = 0; i < Step<D>::SLOTS; i++) s[i] = *(const pk_f4 *)(from + i * 512);
}
template <int D> PKD void write_piece(const pk_f4 *s, char *to) {
  PK_UNROLL for (int i = 0; i < Step<D>::SLOTS; i++) *(pk_f4 *)(to + i * 512) = s[i];
}

template <int D, class Net> PKD void step(Net &net, pk_u32 first, pk_u32 count, bool zero, pk_u32 snapshots, float *staged) {
  typedef Step<D> S;
  const int lane = pk_lane(), part = lane % S::LANES, channel0 = pk_wave() * 8 + lane / S::LANES;
  const int place = channel0 * D * 4 + part * 16;
  float ahead[S::ROUNDS];
  Strength strength;
  // Operands before states: they are needed first, and loads come back in order.
  if (first < count) {
    PK_UNROLL for (int r = 0; r < S::ROUNDS; r++) ahead[r] = net.fetch(r, first);
    strength = net.strength(first);
  }
  pk_f4 s[S::SLOTS];
  if (!zero) net.read(s, place);
  else
    PK_UNROLL for (int i = 0; i < S::SLOTS * 4; i++) s[i / 4][i % 4] = 0;
  const float scale = pk_rsqrt((float)D);
  PK_ROLLED for (pk_u32 n = first; n < count; n++) {
    // Two buffers take turns, so one barrier a token is enough.
    float *stage = staged + (n & 1) * S::STAGED;
    PK_UNROLL for (int r = 0; r < S::ROUNDS; r++) {
      int e = pk_tid() + r * STEP_THREADS;
      float x = net.mix(r, ahead[r]);
      if (e < S::STAGED) stage[e] = x;
    }
    const float decay = strength.decay, beta = strength.beta;
    pk_sync();
    // The next token's operands are on their way while this one is computed; behind the last, its own again.
    const pk_u32 next = n + 1 < count ? n + 1 : n;
    PK_UNROLL for (int r = 0; r < S::ROUNDS; r++) ahead[r] = net.fetch(r, next);
    strength = net.strength(next);
    pk_f4 q = *(const pk_f4 *)(stage + part * 4), k = *(const pk_f4 *)(stage + D + part * 4);
    const float k_unit = net.unit(team_sum<S::LANES>(across(k, k)));
    const float q_unit = net.unit(team_sum<S::LANES>(across(q, q))) * scale;
    PK_UNROLL for (int x = 0; x < 4; x++) {
      k[x] *= k_unit;
      q[x] *= q_unit;
    }
    const float kq = team_sum<S::LANES>(across(k, q));
    // What a channel holds for k and for q gives the write, and by it the output: no second pass.
    float result = 0;
    PK_UNROLL for (int i = 0; i < S::SLOTS; i++) {
      float held = team_sum<S::LANES>(across(s[i], k)), asked = team_sum<S::LANES>(across(s[i], q));
      float delta = (stage[2 * D + channel0 + i * S::BESIDE] - decay * held) * beta;
      if (part == i) result = decay * asked + delta * kq;
      PK_UNROLL for (int x = 0; x < 4; x++) s[i][x] = decay * s[i][x] + delta * k[x];
    }
    if (part < S::SLOTS) net.put(n, channel0 + part * S::BESIDE, result);
    const pk_u32 plane = count - 1 - n;
    if (plane < snapshots) write_piece<D>(s, net.plane(plane) + place);
  }
  net.leave(s, place);
}
