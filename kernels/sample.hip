// One token for each row of logits. Two launches: what each piece of a row holds, a wave a piece; and the choice, a block a
// row.
#include "args/sample.h"
#include "include/block.h"
#include "include/sampling.h"
#include "include/select.h"

const pk_u32 PIECE = 256;

// Scratch memory: this of each piece of each row, then a list of numbers for each row.
struct Piece {
  // Order and index of the largest logit.
  pk_u32 most, most_at;
  // The sum of e^(logit − largest).
  float weight;
  // Order and index of the best score, from differences to this piece's largest logit. Only where all are candidates.
  pk_u32 best, best_at;
  pk_u32 unused;
};
PKD pk_u32 piece_count(const sample_args &p) { return (p.logits.shape[0] + PIECE - 1) / PIECE; }
PKD Piece *pieces_of(const sample_args &p, pk_u32 row) {
  return (Piece *)p.common.scratch + (pk_u64)row * piece_count(p);
}
PKD pk_u64 *list_of(const sample_args &p, pk_u32 row) {
  return (pk_u64 *)pieces_of(p, p.logits.shape[1]) + (pk_u64)row * p.logits.shape[0];
}
PKD float logit_at(const sample_args &p, pk_u32 row, pk_u32 index) {
  return pk_float(read32(row_of(p.logits, row, 0, 0) + index * p.logits.stride[0]));
}

// VGPRs: at most 48
PK_KERNEL(sample_pieces, 256, sample_args) {
  const pk_u32 row = pk_by(), number = pk_bx() * 8 + pk_wave();
  if (number >= piece_count(p)) return;
  const Draw draw = draw_of(p.params, row, p.logits.shape[0]);
  const pk_u32 first = number * PIECE + pk_lane();
  pk_u32 keys[8], most = 0;
  PK_UNROLL for (int j = 0; j < 8; j++) {
    pk_u32 i = first + 32 * j;
    keys[j] = i < draw.width ? key_of(logit_at(p, row, i)) : 0;
    if (keys[j] > most) most = keys[j];
  }
  most = wave_most(most);
  const float largest = number_of(most);
  pk_u32 most_at = NONE, best = 0, best_at = NONE;
  float weight = 0;
  // From the last on: of equal ones the first remains.
  PK_UNROLL for (int j = 7; j >= 0; j--) {
    if (keys[j] == 0) continue;
    const pk_u32 i = first + 32 * j;
    const float behind = number_of(keys[j]) - largest;
    weight += pk_exp(behind);
    if (keys[j] == most) most_at = i;
    if (draw.greedy || draw.candidates > 0) continue;
    pk_u32 score = key_of(behind / draw.temperature + gumbel(draw, i));
    if (score >= best) {
      best = score;
      best_at = i;
    }
  }
  const pk_u32 wave_best = wave_most(best);
  Piece piece;
  piece.most = most;
  piece.most_at = ~wave_most(~most_at);
  piece.weight = pk_wsum(weight);
  piece.best = wave_best;
  piece.best_at = ~wave_most(best == wave_best ? ~best_at : 0u);
  piece.unused = 0;
  if (pk_lane() == 0) pieces_of(p, row)[number] = piece;
}

// The better of two has the larger key and, of equal ones, the lower index.
PKD pk_u64 ranked(pk_u32 key, pk_u32 index) { return (pk_u64)key << 32 | (pk_u32)~index; }
PKD pk_u32 key_in(pk_u64 rank) { return (pk_u32)(rank >> 32); }
PKD pk_u32 index_in(pk_u64 rank) { return ~(pk_u32)rank; }
template <int M> PKD pk_u64 better_of_lanes(pk_u64 x) {
  pk_u64 y = (pk_u64)pk_xor<M>((pk_u32)(x >> 32)) << 32 | pk_xor<M>((pk_u32)x);
  return y > x ? y : x;
}
const int CHOOSERS = 1024;
// The best of a block. `room` holds a word of 64 bits for each wave.
PKD pk_u64 best_of_block(pk_u64 x, pk_u64 *room) {
  x = better_of_lanes<16>(better_of_lanes<8>(better_of_lanes<4>(better_of_lanes<2>(better_of_lanes<1>(x)))));
  if (pk_lane() == 0) room[pk_wave()] = x;
  pk_sync();
  for (int w = 0; w < CHOOSERS / 32; w++) x = room[w] > x ? room[w] : x;
  // Read by all before it is written again.
  pk_sync();
  return x;
}

// Lists the logits of a row that may be among the largest `wanted`: no more pieces can hold one than those whose largest
// logit is among the largest of all pieces.
PKD pk_u32 list_likely(const sample_args &p, pk_u32 row, const Draw &draw, pk_u32 *room, pk_u32 *listed) {
  const Piece *pieces = pieces_of(p, row);
  const pk_u32 count = piece_count(p);
  pk_u32 least = 1;
  if (count > draw.candidates) {
    auto rank = [&](pk_u32 j) { return ranked(pieces[j].most, j); };
    least = key_in(least_of_largest<CHOOSERS>(count, draw.candidates, room, rank));
  }
  if (least == 0) least = 1;
  if (pk_tid() == 0) *listed = 0;
  pk_sync();
  pk_u64 *list = list_of(p, row);
  for (pk_u32 piece = pk_wave(); piece < count; piece += CHOOSERS / 32) {
    if (pieces[piece].most < least) continue;
    for (pk_u32 i = piece * PIECE + pk_lane(); i < draw.width && i < (piece + 1) * PIECE; i += 32) {
      const pk_u32 key = key_of(logit_at(p, row, i));
      if (key >= least) list[pk_atomic_add(listed, 1)] = ranked(key, i);
    }
  }
  pk_sync();
  return *listed;
}

// VGPRs: at most 72
PK_KERNEL(sample_choose, 1024, sample_args) {
  PK_LDS pk_u32 room[SELECT_ROOM];
  PK_LDS pk_u64 bests[CHOOSERS / 32];
  PK_LDS float sums[CHOOSERS / 32];
  PK_LDS pk_u32 listed;
  const pk_u32 row = pk_bx(), count = piece_count(p);
  const Draw draw = draw_of(p.params, row, p.logits.shape[0]);
  const Piece *pieces = pieces_of(p, row);
  pk_u64 most = 0;
  for (pk_u32 j = pk_tid(); j < count; j += CHOOSERS) {
    const pk_u64 own = ranked(pieces[j].most, pieces[j].most_at);
    if (own > most) most = own;
  }
  most = best_of_block(most, bests);
  const float largest = number_of(key_in(most));
  float weight = 0;
  pk_u64 best = 0;
  for (pk_u32 j = pk_tid(); j < count; j += CHOOSERS) {
    const Piece piece = pieces[j];
    if (piece.most == 0) continue;
    const float behind = number_of(piece.most) - largest;
    weight += piece.weight * pk_exp(behind);
    if (piece.best == 0) continue;
    const pk_u64 own = ranked(key_of(number_of(piece.best) + behind / draw.temperature), piece.best_at);
    if (own > best) best = own;
  }
  weight = block_sum<CHOOSERS>(weight, sums);
  if (!draw.greedy && draw.candidates > 0 && count > 0) {
    const pk_u32 length = list_likely(p, row, draw, room, &listed);
    const pk_u64 *list = list_of(p, row);
    pk_u64 least = 0;
    if (length > draw.candidates)
      least = least_of_largest<CHOOSERS>(length, draw.candidates, room, [&](pk_u32 j) { return list[j]; });
    for (pk_u32 j = pk_tid(); j < length; j += CHOOSERS) {
      if (list[j] < least) continue;
      const pk_u32 i = index_in(list[j]);
      const float behind = number_of(key_in(list[j])) - largest;
      const pk_u64 own = ranked(key_of(behind / draw.temperature + gumbel(draw, i)), i);
      if (own > best) best = own;
    }
  }
  best = best_of_block(best, bests);
  if (pk_tid() != 0) return;
  char *out = row_of(p.out, row, 0, 0);
  pk_u32 id = NONE;
  float log_probability = pk_float(0xff800000u);
  if (key_in(most) != 0) {
    id = index_in(draw.greedy ? most : best);
    log_probability = (logit_at(p, row, id) - largest) - pk_log(weight);
  }
  write32(out, id);
  write32(out + p.out.stride[0], pk_bits(log_probability));
}
