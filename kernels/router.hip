// The experts of each token and their weights: the k largest of a softmax, made to sum to one.
#include "args/router.h"
#include "include/order.h"
#include "include/softmax_row.h"

// What all scores of a token are to their shares.
struct Shares {
  // The rank of the largest score.
  int most;
  float sum;
};
// e^(score − largest). Where a score is NaN or infinite nothing is a number, whatever the exponential made of it.
PKD float weight_of(float score, int most) {
  if (most >= 0x7f800000) return pk_float(0x7fc00000u);
  return is_excluded(score) ? 0.0f : pk_exp(score - value_of(most));
}
// Where all scores are excluded none has a share.
PKD float share_of(float score, Shares all) {
  return all.sum == 0 ? 0.0f : weight_of(score, all.most) / all.sum;
}
PKD void put_expert(const router_args &p, pk_u32 place, pk_u32 token, pk_u32 expert) {
  write32(row_of(p.ids, token, 0, 0) + place * p.ids.stride[0], expert);
}
PKD float over_all(const router_args &p, float share, float all) { return share / (all < p.least ? p.least : all); }

// Scores that a lane holds.
const int OWN = 16;
// The score of an order key. NaN has that of minus infinity.
PKD float score_of(pk_u32 key) { return pk_float(key >> 31 ? key ^ 0x80000000u : ~key); }

// At most 512 experts of which at most 32 are chosen: a wave a token. It finds the best of those that remain, k times.
// VGPRs: at most 72
PK_KERNEL(router_wave, 128, router_args) {
  const pk_u32 token = pk_bx() * 4 + pk_wave(), experts = p.logits.shape[0], lane = pk_lane();
  if (token >= p.logits.shape[1]) return;
  const float *logits = (const float *)row_of(p.logits, token, 0, 0);
  float scores[OWN];
  PK_UNROLL for (int j = 0; j < OWN; j++) {
    const pk_u32 expert = lane + 32 * j;
    scores[j] = logits[expert < experts ? expert : experts - 1] * p.scale;
  }
  // Keys of places behind the row are below all others.
  pk_u32 keys[OWN];
  Shares all = {LOWEST_RANK, 0};
  PK_UNROLL for (int j = 0; j < OWN; j++) {
    keys[j] = lane + 32 * j < experts ? order_key(scores[j]) : 0;
    all.most = larger(all.most, rank_of(scores[j]));
  }
  all.most = wave_most(all.most);
  PK_UNROLL for (int j = 0; j < OWN; j++) all.sum += keys[j] == 0 ? 0.0f : weight_of(scores[j], all.most);
  all.sum = pk_wsum(all.sum);
  // Lane s gets the expert at place s.
  pk_u32 chosen = 0, chosen_key = 0;
  PK_ROLLED for (pk_u32 place = 0; place < p.k; place++) {
    pk_u32 best = 0, at = 0;
    // From the last on: of equal ones the first remains.
    PK_UNROLL for (int j = OWN - 1; j >= 0; j--) {
      if (keys[j] < best) continue;
      best = keys[j];
      at = lane + 32 * j;
    }
    const pk_u32 most = wave_most(best), expert = ~wave_most(best == most ? ~at : 0u);
    PK_UNROLL for (int j = 0; j < OWN; j++) keys[j] = lane + 32 * j == expert ? 0 : keys[j];
    chosen = lane == place ? expert : chosen;
    chosen_key = lane == place ? most : chosen_key;
  }
  const float share = lane < p.k ? share_of(score_of(chosen_key), all) : 0.0f, sum = pk_wsum(share);
  if (lane >= p.k) return;
  put_expert(p, lane, token, chosen);
  store(p.weights, lane, token, 0, 0, over_all(p, share, sum));
}

// Any layout and number, a block a token: each score counts those before it.
PK_KERNEL(router_any, 256, router_args) {
  PK_LDS int room[8];
  PK_LDS float sums[8], shares[8];
  const pk_u32 token = pk_bx(), experts = p.logits.shape[0];
  auto score = [&](pk_u32 expert) { return load(p.logits, expert, token, 0, 0) * p.scale; };
  Shares all = {LOWEST_RANK, 0};
  for (pk_u32 j = pk_tid(); j < experts; j += 256) all.most = larger(all.most, rank_of(score(j)));
  all.most = row_most<256>(all.most, room);
  for (pk_u32 j = pk_tid(); j < experts; j += 256) all.sum += weight_of(score(j), all.most);
  all.sum = block_sum<256>(all.sum, sums);
  float sum = 0;
  for (pk_u32 own = pk_tid(); own < experts; own += 256) {
    const pk_u32 key = order_key(score(own));
    pk_u32 place = 0;
    for (pk_u32 j = 0; j < experts; j++) {
      const pk_u32 other = order_key(score(j));
      place += other > key || (other == key && j < own);
    }
    if (place >= p.k) continue;
    const float share = share_of(score(own), all);
    sum += share;
    put_expert(p, place, token, own);
    store(p.weights, place, token, 0, 0, share);
  }
  // Shares that others stored are read behind its barrier.
  sum = block_sum<256>(sum, shares);
  for (pk_u32 s = pk_tid(); s < p.k; s += 256)
    store(p.weights, s, token, 0, 0, over_all(p, load(p.weights, s, token, 0, 0), sum));
}
