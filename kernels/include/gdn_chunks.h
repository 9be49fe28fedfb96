// Where chunks of tokens lie, in the order of the table, and what lies where in scratch memory when tokens pass in chunks:
// outputs [head][token][D], convolved rows [head of q, k and v][token][D], and the matrices of chunks.
#pragma once
#include "include/gdn_heads.h"
#include "include/gdn_layer.h"

// Tokens of a chunk.
constexpr int CHUNK = 32;
// How many of a segment's first tokens pass in chunks: none of a short one, and not the last, if they leave snapshots.
PKD pk_u32 chunked(pk_u32 count, pk_u32 snapshots) {
  pk_u32 rest = snapshots == 1 ? count : count > snapshots ? count - snapshots : 0;
  return rest <= 8 ? 0 : rest;
}
PKD pk_u32 chunks_of(const gdn_layer_args &p, pk_u32 entry) {
  return (chunked(segment_word(p.segments, entry, 2), p.snapshots) + CHUNK - 1) / CHUNK;
}

// A chunk: its first row and its tokens.
struct ChunkPlace {
  pk_u32 row, count;
};
// By number; without tokens if there is none. The table holds.
PKD ChunkPlace chunk_place(const gdn_layer_args &p, pk_u32 chunk) {
  PK_ROLLED for (pk_u32 e = 0; e < p.segments.shape[1]; e++) {
    pk_u32 chunks = chunks_of(p, e);
    if (chunk < chunks) {
      pk_u32 rest = chunked(segment_word(p.segments, e, 2), p.snapshots) - chunk * CHUNK;
      return {segment_word(p.segments, e, 1) + chunk * CHUNK, rest < CHUNK ? rest : CHUNK};
    }
    chunk -= chunks;
  }
  return {0, 0};
}

PKD float *output_row(const gdn_layer_args &p, pk_u32 head, pk_u32 t, pk_u32 dim) {
  return (float *)p.common.scratch + ((pk_u64)head * p.x.shape[1] + t) * dim;
}
// `block` counts the heads of q, then of k, then of v.
template <int D, class Number> PKD Number *mixed_row(const gdn_layer_args &p, pk_u32 block, pk_u32 t) {
  return (Number *)(p.common.scratch + (pk_u64)p.mixed * 16) + ((pk_u64)block * p.x.shape[1] + t) * D;
}
PKD void put_four(float *to, pk_f4 x) { *(pk_f4 *)to = x; }
PKD void put_four(pk_h *to, pk_f4 x) {
  pk_u32 low = pk_to_f16(x[0]) | (pk_u32)pk_to_f16(x[1]) << 16, high = pk_to_f16(x[2]) | (pk_u32)pk_to_f16(x[3]) << 16;
  *(pk_u64 *)to = low | (pk_u64)high << 32;
}
// What a chunk's triangular part makes of it for one head: T [token][token], which turns what values lack into writes, P, which
// turns writes into outputs; what is left of older states at each token; and of each token's write at the chunk's end. A
// matrix's upper right quarter is not written.
struct ChunkMatrices {
  pk_h writes[CHUNK * CHUNK], outputs[CHUNK * CHUNK];
  float decays[CHUNK], nears[CHUNK];
};
PKD ChunkMatrices &matrices_of(const gdn_layer_args &p, pk_u32 chunk, pk_u32 head) {
  ChunkMatrices *all = (ChunkMatrices *)(p.common.scratch + (pk_u64)p.matrices * 16);
  return all[(pk_u64)chunk * p.out.shape[1] + head];
}
// A chunk's keys, turned: [key channel][token], zeros for tokens that it lacks.
template <int D> PKD pk_h *turned_of(const gdn_layer_args &p, pk_u32 chunk, pk_u32 key) {
  return (pk_h *)(p.common.scratch + (pk_u64)p.turned * 16) + ((pk_u64)chunk * p.key_heads + key) * D * CHUNK;
}
// What the log decay and the write strength of a token are made of: of the token, and of the head.
struct Gates {
  float alpha, beta;
};
struct HeadGates {
  float dt, a;
};
PKD Gates gates_of(const gdn_layer_args &p, pk_u32 head, pk_u32 t) {
  return {*(const float *)(p.alpha.data + head * p.alpha.stride[0] + t * p.alpha.stride[1]),
          *(const float *)(p.beta.data + head * p.beta.stride[0] + t * p.beta.stride[1])};
}
PKD HeadGates head_gates(const gdn_layer_args &p, pk_u32 head) {
  return {*(const float *)(p.dt.data + head * p.dt.stride[0]), *(const float *)(p.a.data + head * p.a.stride[0])};
}
PKD float log_decay_of(Gates token, HeadGates head) { return head.a * softplus(token.alpha + head.dt); }
