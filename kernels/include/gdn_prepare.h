// The triangular part of a chunk of 32 tokens for one head: with A[t, u] = beta_t (k_t . k_u) decay(u to t) for u < t, the
// writes are (I + A)^-1 beta (v - decayed state . k), and outputs add (q_t . k_u) decay(u to t) times the writes. Products of
// keys and queries on matrix units; sums of decays and the inverse in f32.
#pragma once
#include "include/gdn_chunks.h"

constexpr int PREPARE_THREADS = 128, LOWER_PITCH = CHUNK + 4;

// A column of the inverse of a lower triangle of 16 rows with ones on its diagonal, by row; `lower` points to its corner.
PKD void invert_column(const float *lower, int column, float *x) {
  PK_UNROLL for (int t = 0; t < 16; t++) {
    float sum = t == column ? 1.0f : 0.0f;
    PK_UNROLL for (int u = 0; u < t; u++) sum -= lower[t * LOWER_PITCH + u] * x[u];
    x[t] = sum;
  }
}

// Keys of a chunk to where they lie turned, by one wave.
template <int D> PKD void turn_keys(const gdn_layer_args &p, const ChunkPlace &place, pk_u32 chunk, pk_u32 key) {
  const int cell = pk_lane() % 16 * 2;
  pk_h *to = turned_of<D>(p, chunk, key);
  PK_ROLLED for (int piece = pk_lane() / 16; piece < D / 8; piece += 2) {
    pk_u32 words[2][4];
    PK_UNROLL for (int j = 0; j < 2; j++) {
      const bool there = (pk_u32)(cell + j) < place.count;
      const pk_u32 t = place.row + (there ? cell + j : 0);
      pk_f4 x = *(const pk_f4 *)(mixed_row<D, pk_h>(p, p.key_heads + key, t) + piece * 8);
      PK_UNROLL for (int i = 0; i < 4; i++) words[j][i] = there ? pk_bits(x[i]) : 0;
    }
    PK_UNROLL for (int c = 0; c < 8; c++) {
      const int shift = c % 2 * 16;
      pk_u32 pair = (words[0][c / 2] >> shift & 0xffffu) | (words[1][c / 2] >> shift & 0xffffu) << 16;
      *(pk_u32 *)(to + (piece * 8 + c) * CHUNK + cell) = pair;
    }
  }
}

// A block a chunk (x) and head (y).
template <int D> PKD void prepare_chunk(const gdn_layer_args &p) {
  PK_LDS float logs[CHUNK];
  PK_LDS float sums[CHUNK];
  PK_LDS float betas[CHUNK];
  PK_LDS float lower[CHUNK * LOWER_PITCH];
  PK_LDS float inverse[CHUNK * LOWER_PITCH];
  PK_LDS float corner[16 * 16];
  if (!segments_hold_wave(p.common, p.segments, layer_bounds(p), false)) return;
  const pk_u32 chunk = pk_bx(), head = pk_by(), key = key_head(p.heads, head, p.out.shape[1], p.key_heads);
  const ChunkPlace place = chunk_place(p, chunk);
  if (place.count == 0) return;
  const int tid = pk_tid(), wave = pk_wave(), count = (int)place.count;
  ChunkMatrices &to = matrices_of(p, chunk, head);
  // Products of 16 tokens with 16: the lower triangle has three such tiles, a wave each.
  const int tile_t = wave == 0 ? 0 : 1, tile_u = wave == 2 ? 1 : 0;
  pk_acc kk, qk;
  pk_zero(kk);
  pk_zero(qk);
  if (wave < 3) {
    // Rows behind the chunk's end are read, and what comes of them is not used.
    const pk_h *queries = mixed_row<D, pk_h>(p, key, place.row + tile_t * 16);
    const pk_h *rows = mixed_row<D, pk_h>(p, p.key_heads + key, place.row + tile_t * 16);
    const pk_h *columns = mixed_row<D, pk_h>(p, p.key_heads + key, place.row + tile_u * 16);
    PK_UNROLL for (int i = 0; i < D; i += 16) {
      pk_frag a, q, b;
      pk_ldb(b, columns + i, D);
      pk_lda(a, rows + i, D);
      pk_lda(q, queries + i, D);
      pk_mma(kk, a, b);
      pk_mma(qk, q, b);
    }
  } else {
    const bool first = p.heads == 0 ? head < p.key_heads : head % (p.out.shape[1] / p.key_heads) == 0;
    if (first) turn_keys<D>(p, place, chunk, key);
    // A missing token has no decay and no strength: it changes nothing.
    float log_decay = 0, beta = 0;
    if (pk_lane() < count) {
      const Gates gates = gates_of(p, head, place.row + pk_lane());
      log_decay = log_decay_of(gates, head_gates(p, head));
      beta = sigmoid(gates.beta);
    }
    logs[pk_lane()] = log_decay;
    betas[pk_lane()] = beta;
    pk_wave_sync();
    float sum = 0;
    PK_UNROLL for (int u = 0; u < CHUNK; u++) sum += u <= pk_lane() ? logs[u] : 0.0f;
    sums[pk_lane()] = sum;
  }
  pk_sync();
  if (wave < 3) {
    const float scale = pk_rsqrt((float)D);
    PK_UNROLL for (int i = 0; i < 8; i++) {
      const int t = tile_t * 16 + pk_row(i), u = tile_u * 16 + pk_col(i);
      const bool before = u <= t && t < count;
      const float left = pk_exp(before ? sums[t] - sums[u] : 0.0f);
      to.outputs[t * CHUNK + u] = (pk_h)(before ? pk_el(qk, i) * left * scale : 0.0f);
      lower[t * LOWER_PITCH + u] = before && u < t ? pk_el(kk, i) * left * betas[t] : 0.0f;
    }
  } else {
    to.decays[pk_lane()] = pk_exp(sums[pk_lane()]);
    to.nears[pk_lane()] = pk_exp(sums[CHUNK - 1] - sums[pk_lane()]);
  }
  pk_sync();
  // The two blocks of 16 on the diagonal, a column a lane.
  if (wave == 0) {
    const int first = pk_lane() / 16 * 16, column = pk_lane() % 16;
    float x[16];
    invert_column(lower + first * LOWER_PITCH + first, column, x);
    PK_UNROLL for (int t = 0; t < 16; t++) inverse[(first + t) * LOWER_PITCH + pk_lane()] = x[t];
  }
  pk_sync();
  // The block below them: -inverse(second) . lower . inverse(first).
  for (int e = tid; e < 256; e += PREPARE_THREADS) {
    float x = 0;
    PK_UNROLL for (int u = 0; u < 16; u++) x += lower[(16 + e / 16) * LOWER_PITCH + u] * inverse[u * LOWER_PITCH + e % 16];
    corner[e] = x;
  }
  pk_sync();
  for (int e = tid; e < 256; e += PREPARE_THREADS) {
    const int t = e / 16, u = e % 16;
    float x = 0;
    PK_UNROLL for (int i = 0; i < 16; i++) x -= inverse[(16 + t) * LOWER_PITCH + 16 + i] * corner[i * 16 + u];
    to.writes[(16 + t) * CHUNK + u] = (pk_h)(x * betas[u]);
    to.writes[t * CHUNK + u] = (pk_h)(inverse[t * LOWER_PITCH + u] * betas[u]);
    to.writes[(16 + t) * CHUNK + 16 + u] = (pk_h)(inverse[(16 + t) * LOWER_PITCH + 16 + u] * betas[16 + u]);
  }
}
