// Chunks of a segment one after the other, a block per 32 value channels of a head, their state in the accumulators of matrix
// units:
//   W = T (V - e^G (K S)); out = e^G (Q S) + P W; S <- e^(G of the last) S + (e^(G of the last - G) K)' W
// with T and P from the preparation. The state is split into two halves for its products with K and Q, so that it loses no bits
// that matter; everything else is rounded to sixteen bits.
#pragma once
#include "include/gdn_chunks.h"

constexpr int SCAN_THREADS = 128, SCAN_CHANNELS = 32;
// Whether what a phase needs from memory is asked for a phase before. RDNA3 has no registers for that: there a wave's halves
// both hold a whole fragment.
constexpr bool EARLY = sizeof(pk_frag) <= 16;

template <int D> PKD void scan_chunks(const gdn_layer_args &p) {
  // Distances of rows, multiples of 16 bytes that keep banks apart; and the tiles of the state [value][key channel] of a wave.
  constexpr int PITCH = D + 8, SHORT = CHUNK + 8, STEPS = D / 16, OWN = STEPS / 2;
  // The state in two halves [value][key channel], until all have used it. Then three matrices [value][token]: what values lack,
  // writes, and what is left of them at the chunk's end.
  constexpr int STATE = 2 * SCAN_CHANNELS * PITCH, TURNED = 3 * SCAN_CHANNELS * SHORT;
  PK_LDS pk_h room[STATE > TURNED ? STATE : TURNED];
  pk_h *const high = room, *const low = room + SCAN_CHANNELS * PITCH;
  pk_h *const lacks = room, *const writes = room + SCAN_CHANNELS * SHORT, *const lasting = writes + SCAN_CHANNELS * SHORT;
  if (!segments_hold_wave(p.common, p.segments, layer_bounds(p), false)) return;
  const pk_u32 entry = pk_by(), head = pk_bx() / (D / SCAN_CHANNELS);
  const pk_u32 channel = pk_bx() % (D / SCAN_CHANNELS) * SCAN_CHANNELS;
  const pk_u32 key = key_head(p.heads, head, p.out.shape[1], p.key_heads);
  const Segment own = segment_at(p.segments, entry);
  const pk_u32 count = chunked(own.count, p.snapshots);
  if (count == 0) return;
  pk_u32 chunk = 0;
  PK_ROLLED for (pk_u32 e = 0; e < entry; e++) chunk += chunks_of(p, e);
  // A wave multiplies 16 tokens of keys (waves 0 and 1) or queries with the state.
  const int wave = pk_wave(), tile_t = wave % 2;
  const bool asks = wave >= 2;
  const float scale = pk_rsqrt((float)D);
  pk_acc state[OWN];
  PK_UNROLL for (int n = 0; n < OWN; n++) {
    const int tile = wave * OWN + n, v0 = tile % 2 * 16, k0 = tile / 2 * 16;
    PK_UNROLL for (int i = 0; i < 8; i++) {
      const char *line = row_of(p.state, channel + v0 + pk_row(i), head, first_plane(own, p.snapshots));
      const float x = ((const float *)line)[k0 + pk_col(i)];
      pk_el(state[n], i) = own.fresh ? 0.0f : x;
    }
  }
  // Rows behind the chunk's end are read, and what comes of them is not used.
  pk_frag tokens_of[STEPS];
  auto fetch_tokens = [&](pk_u32 first) {
    const pk_h *rows = mixed_row<D, pk_h>(p, asks ? key : p.key_heads + key, own.row + first + tile_t * 16);
    PK_UNROLL for (int s = 0; s < STEPS; s++) pk_lda(tokens_of[s], rows + s * 16, D);
  };
  if constexpr (EARLY) fetch_tokens(0);
  PK_ROLLED for (pk_u32 first = 0; first < count; first += CHUNK, chunk++) {
    const int tokens = count - first < CHUNK ? (int)(count - first) : CHUNK;
    const pk_u32 row = own.row + first;
    const ChunkMatrices &matrices = matrices_of(p, chunk, head);
    if constexpr (!EARLY) fetch_tokens(first);
    PK_UNROLL for (int n = 0; n < OWN; n++) {
      const int tile = wave * OWN + n, v0 = tile % 2 * 16, k0 = tile / 2 * 16;
      PK_UNROLL for (int i = 0; i < 8; i++) {
        const float x = pk_el(state[n], i);
        const pk_h part = (pk_h)x;
        const int at = (v0 + pk_row(i)) * PITCH + k0 + pk_col(i);
        high[at] = part;
        low[at] = (pk_h)(x - pk_opaque((float)part));
      }
    }
    pk_h values[2][8];
    float kept, nears[8];
    pk_frag turns[2], gives[2];
    auto fetch_rest = [&] {
      PK_UNROLL for (int i = 0; i < 8; i++) {
        const int t = tile_t * 16 + pk_row(i);
        const pk_h *from = mixed_row<D, pk_h>(p, 2 * p.key_heads + head, row + (t < tokens ? t : 0));
        PK_UNROLL for (int v = 0; v < 2; v++) values[v][i] = from[channel + v * 16 + pk_col(i)];
        nears[i] = matrices.nears[t];
      }
      kept = matrices.decays[CHUNK - 1];
      PK_UNROLL for (int s = 0; s < 2; s++) {
        // The upper right quarter is not there: the lower left one is read once more instead, and not used.
        const int at = tile_t * 16 * CHUNK + (s < tile_t ? s : tile_t) * 16;
        pk_lda(turns[s], matrices.writes + at, CHUNK);
        pk_lda(gives[s], matrices.outputs + at, CHUNK);
      }
    };
    if constexpr (EARLY) fetch_rest();
    pk_sync();
    // Keys or queries with the state.
    pk_acc known[2];
    pk_zero(known[0]);
    pk_zero(known[1]);
    PK_UNROLL for (int s = 0; s < STEPS; s++) {
      pk_frag b;
      PK_UNROLL for (int v = 0; v < 2; v++) {
        pk_ldb(b, high + v * 16 * PITCH + s * 16, PITCH);
        pk_mma(known[v], tokens_of[s], b);
        pk_ldb(b, low + v * 16 * PITCH + s * 16, PITCH);
        pk_mma(known[v], tokens_of[s], b);
      }
    }
    if constexpr (!EARLY) fetch_rest();
    PK_UNROLL for (int i = 0; i < 8; i++) {
      const float by = matrices.decays[tile_t * 16 + pk_row(i)] * (asks ? scale : 1.0f);
      PK_UNROLL for (int v = 0; v < 2; v++) pk_el(known[v], i) *= by;
    }
    pk_sync();
    if (!asks)
      PK_UNROLL for (int v = 0; v < 2; v++)
        PK_UNROLL for (int i = 0; i < 8; i++) {
          const int t = tile_t * 16 + pk_row(i), c = v * 16 + pk_col(i);
          const float x = (float)values[v][i] - pk_el(known[v], i);
          // A missing token lacks nothing, whatever lies there.
          lacks[c * SHORT + t] = (pk_h)(t < tokens ? x : 0.0f);
        }
    pk_sync();
    pk_frag keys[OWN > 1 ? OWN / 2 : 1][2];
    PK_UNROLL for (int n = 0; n < OWN; n += 2)
      PK_UNROLL for (int s = 0; s < 2; s++)
        pk_ldb(keys[n / 2][s], turned_of<D>(p, chunk, key) + (wave * OWN + n) / 2 * 16 * CHUNK + s * 16, CHUNK);
    // Writes: a wave has 16 tokens and 16 channels. Tokens take from those before them only.
    {
      const int v0 = wave / 2 * 16;
      pk_acc c;
      pk_zero(c);
      PK_UNROLL for (int s = 0; s < 2; s++)
        if (s <= tile_t) {
          pk_frag b;
          pk_ldb(b, lacks + v0 * SHORT + s * 16, SHORT);
          pk_mma(c, turns[s], b);
        }
      PK_UNROLL for (int i = 0; i < 8; i++) {
        const int t = tile_t * 16 + pk_row(i), at = (v0 + pk_col(i)) * SHORT + t;
        writes[at] = (pk_h)pk_el(c, i);
        lasting[at] = (pk_h)(pk_el(c, i) * nears[i]);
      }
    }
    if constexpr (EARLY)
      if (first + CHUNK < count) fetch_tokens(first + CHUNK);
    pk_sync();
    if (asks)
      PK_UNROLL for (int v = 0; v < 2; v++) {
        PK_UNROLL for (int s = 0; s < 2; s++)
          if (s <= tile_t) {
            pk_frag b;
            pk_ldb(b, writes + v * 16 * SHORT + s * 16, SHORT);
            pk_mma(known[v], gives[s], b);
          }
        PK_UNROLL for (int i = 0; i < 8; i++) {
          const int t = tile_t * 16 + pk_row(i);
          if (t < tokens) output_row(p, head, row + t, D)[channel + v * 16 + pk_col(i)] = pk_el(known[v], i);
        }
      }
    PK_UNROLL for (int n = 0; n < OWN; n++) {
      const int v0 = (wave * OWN + n) % 2 * 16;
      PK_UNROLL for (int i = 0; i < 8; i++) pk_el(state[n], i) *= kept;
      PK_UNROLL for (int s = 0; s < 2; s++) {
        pk_frag a;
        pk_lda(a, lasting + v0 * SHORT + s * 16, SHORT);
        pk_mma(state[n], a, keys[n / 2][s]);
      }
    }
    pk_sync();
  }
  PK_UNROLL for (int n = 0; n < OWN; n++) {
    const int tile = wave * OWN + n, v0 = tile % 2 * 16, k0 = tile / 2 * 16;
    PK_UNROLL for (int i = 0; i < 8; i++) {
      char *line = row_of(p.state, channel + v0 + pk_row(i), head, own.slot * p.snapshots);
      ((float *)line)[k0 + pk_col(i)] = pk_el(state[n], i);
    }
  }
}
