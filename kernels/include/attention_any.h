// Attention for any type, width, layout and mask. A block computes 256 columns of one head's result for one token.
#pragma once
#include "include/attention_place.h"
#include "include/attention_softmax.h"
#include "include/block.h"
#include "include/quant.h"

constexpr int ANY_THREADS = 256;
// A hidden cell's mark among weights.
constexpr float HIDDEN = -1.0f;

// `finish` (p, place, x) is what a stem makes of a value before it is stored.
template <class Args> PKD void attend_any(const Args &p) {
  PK_LDS float stage[ANY_THREADS];
  PK_LDS float peaks[8];
  PK_LDS float sums[8];
  pk_u32 lane = pk_tid(), width = p.out.shape[0], tiles = (width + ANY_THREADS - 1) / ANY_THREADS;
  pk_u64 number = (pk_u64)pk_by() * p.groups_x + pk_bx();
  if (number >= tiles * (elements(p.out) / width)) return;
  pk_u64 row = number / tiles;
  pk_u32 q_head = (pk_u32)(row % p.out.shape[1]), token = (pk_u32)(row / p.out.shape[1] % p.out.shape[2]);
  pk_u32 seq = (pk_u32)(row / p.out.shape[1] / p.out.shape[2]), slot = seq, visible = p.k.shape[1];
  if (is_bound(p.segments)) {
    Seen seen = find_place(p, token, number == 0);
    if (!seen.held) return;
    slot = seen.slot;
    visible = seen.visible;
  }
  pk_u32 head = q_head / (p.q.shape[2] / p.k.shape[2]), depth = p.q.shape[0];
  pk_u32 column0 = (pk_u32)(number % tiles) * ANY_THREADS;
  // Lanes that have no column of their own share out the cells.
  pk_u32 columns = width - column0 < ANY_THREADS ? width - column0 : ANY_THREADS;
  pk_u32 parts = ANY_THREADS / columns, part = lane / columns, column = column0 + lane % columns;
  float most = LOWEST, total = 0, sum = 0;
  PK_ROLLED for (pk_u32 first = 0; first < visible; first += ANY_THREADS) {
    pk_u32 cell = first + lane;
    bool shown = cell < visible;
    float score = 0;
    PK_ROLLED for (pk_u32 d0 = 0; d0 < depth; d0 += ANY_THREADS) {
      pk_sync();
      if (d0 + lane < depth) stage[lane] = load(p.q, d0 + lane, token, q_head, seq);
      pk_sync();
      const char *key = row_of(p.k, cell, head, slot);
      pk_u32 end = !shown ? 0 : depth - d0 < ANY_THREADS ? depth - d0 : ANY_THREADS;
      // Short sums of their own: long rows keep their low bits.
      PK_ROLLED for (pk_u32 d1 = 0; d1 < end; d1 += 16) {
        float few = 0;
        PK_ROLLED for (pk_u32 d = d1; d < d1 + 16 && d < end; d++) few += stage[d] * pk_element(p.k, key, d0 + d);
        score += few;
      }
    }
    score *= p.scale;
    if (shown && is_bound(p.mask)) {
      float bias = load(p.mask, cell, token, q_head % p.mask.shape[2], seq % p.mask.shape[3]);
      shown = !is_minus_infinity(bias);
      score += bias;
    }
    float next = higher(most, block_higher<ANY_THREADS>(shown ? score : LOWEST, peaks)), shrink = shrunk(most, next);
    float share = shown ? pk_exp(score - next) : 0.0f;
    total = total * shrink + block_sum<ANY_THREADS>(share, sums);
    sum *= shrink;
    most = next;
    // The sum's barrier was after the last use of the staged queries.
    stage[lane] = shown ? share : HIDDEN;
    pk_sync();
    pk_u32 end = visible - first < ANY_THREADS ? visible - first : ANY_THREADS;
    // What a hidden cell holds cannot matter.
    if (part < parts)
      PK_ROLLED for (pk_u32 c = part; c < end; c += parts)
        if (stage[c] != HIDDEN) sum += stage[c] * pk_element(p.v, row_of(p.v, first + c, head, slot), column);
  }
  if (is_bound(p.sinks)) {
    float sink = load(p.sinks, q_head, 0, 0, 0);
    if (!is_minus_infinity(sink)) {
      float next = higher(most, sink), shrink = shrunk(most, next);
      sum *= shrink;
      total = total * shrink + pk_exp(sink - next);
    }
  }
  pk_sync();
  stage[lane] = sum;
  pk_sync();
  if (lane >= columns) return;
  for (pk_u32 j = 1; j < parts; j++) sum += stage[j * columns + lane];
  // A row that sees no cell is zero.
  float result = total == 0.0f ? 0.0f : sum / total;
  store(p.out, column, q_head, token, seq, finish(p, column, q_head, token, seq, result));
}
