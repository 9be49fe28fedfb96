// A layer for any layout, in four launches: convolution and SiLU to scratch memory [token][channel], the history's new tail,
// the recurrence of value channels (whose outputs take the place of their values in the scratch), and the gated norm.
#pragma once
#include "args/gdn_layer.h"
#include "include/block.h"
#include "include/gdn_any.h"
#include "include/gdn_layer.h"

PKD float *mixed_row(const gdn_layer_args &p, pk_u32 t) { return (float *)p.common.scratch + (pk_u64)t * p.x.shape[0]; }

// Where a thread's operands lie. Value channels follow the channels of q and k of all key heads.
struct LayerNet {
  const gdn_layer_args &p;
  // The first plane of the segment's slot.
  pk_u32 base;

  __device__ pk_u32 dim() const { return p.out.shape[0]; }
  __device__ Line key(const Channel &c, pk_u32 t, pk_u32 start) const {
    pk_u32 head = start + key_head(p.heads, c.head, p.out.shape[1], p.key_heads);
    return {(char *)(mixed_row(p, t) + head * dim()), 4};
  }
  __device__ Line q(const Channel &c, pk_u32 t) const { return key(c, t, 0); }
  __device__ Line k(const Channel &c, pk_u32 t) const { return key(c, t, p.key_heads); }
  __device__ float &value(const Channel &c, pk_u32 t) const {
    return mixed_row(p, t)[(2 * p.key_heads + c.head) * dim() + c.j];
  }
  __device__ float v(const Channel &c, pk_u32 t) const { return value(c, t); }
  __device__ void emit(const Channel &c, pk_u32 t, float x) const { value(c, t) = x; }
  __device__ float beta(const Channel &c, pk_u32 t) const { return sigmoid(number(p.beta, c.head, t, 0, 0)); }
  __device__ float decay(const Channel &c, pk_u32 t, pk_u32) const {
    float raw = number(p.alpha, c.head, t, 0, 0) + number(p.dt, c.head, 0, 0, 0);
    return pk_exp(number(p.a, c.head, 0, 0, 0) * softplus(raw));
  }
  __device__ float unit(float square) const { return unit_factor(square, p.l2_eps, p.form); }
  __device__ void keep(const Channel &c, pk_u32 plane, pk_u32 i, float x) const {
    line_of(p.state, c.j, c.head, base + plane).put(i, x);
  }
};

// A thread an input.
PK_KERNEL(gdn_layer_mix, 256, gdn_layer_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  pk_u32 channels = p.x.shape[0];
  if (n >= (pk_u64)channels * p.x.shape[1]) return;
  if (!segments_hold(p.common, p.segments, layer_bounds(p), n == 0)) return;
  pk_u32 t = (pk_u32)(n / channels), c = (pk_u32)(n % channels);
  Segment s = segment_of(p.segments, t);
  if (s.count == 0) return;
  pk_u32 since = t - s.row, taps = p.conv.shape[0];
  float sum = 0;
  PK_ROLLED for (pk_u32 k = 0; k < taps; k++) {
    pk_u32 steps = taps - 1 - k;
    float past = 0;
    if (steps <= since) past = number(p.x, c, t - steps, 0, 0);
    else if (pk_u32 back = history_back(s, steps - since, p.history.shape[0])) past = number(p.history, p.history.shape[0] - back, c, s.slot, 0);
    sum += past * number(p.conv, k, c, 0, 0);
  }
  mixed_row(p, t)[c] = opening(0, sum);
}

// A thread a channel of each segment.
PK_KERNEL(gdn_layer_tail, 256, gdn_layer_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  pk_u32 channels = p.x.shape[0];
  if (n >= (pk_u64)channels * p.segments.shape[1]) return;
  if (!segments_hold(p.common, p.segments, layer_bounds(p), n == 0)) return;
  Segment s = segment_at(p.segments, (pk_u32)(n / channels));
  if (s.count > 0) put_tail(p, s, (pk_u32)(n % channels));
}

// A thread a value channel of each segment; the row of the state that it works on lies behind the convolved rows.
PK_KERNEL(gdn_layer_any, 256, gdn_layer_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  pk_u32 dim = p.out.shape[0], heads = p.out.shape[1], entry = (pk_u32)(n / dim / heads);
  if (entry >= p.segments.shape[1]) return;
  if (!segments_hold(p.common, p.segments, layer_bounds(p), false)) return;
  Segment s = segment_at(p.segments, entry);
  if (s.count == 0) return;
  Channel c = {(pk_u32)(n % dim), (pk_u32)(n / dim % heads), 0};
  pk_u32 base = s.slot * p.snapshots;
  Line from = line_of(p.state, c.j, c.head, first_plane(s, p.snapshots));
  float *row = mixed_row(p, p.x.shape[1]) + n * dim;
  PK_ROLLED for (pk_u32 i = 0; i < dim; i++) row[i] = s.fresh ? 0.0f : from.get(i);
  recur(LayerNet{p, base}, c, row, s.row, s.count, p.snapshots);
}

// A block a head and token.
PK_KERNEL(gdn_layer_norm, 256, gdn_layer_args) {
  PK_LDS float room[8];
  pk_u32 head = pk_bx() % p.out.shape[1], t = pk_bx() / p.out.shape[1], dim = p.out.shape[0];
  if (!segments_hold(p.common, p.segments, layer_bounds(p), false) || segment_of(p.segments, t).count == 0) return;
  const float *o = mixed_row(p, t) + (2 * p.key_heads + head) * dim;
  float sum = 0;
  for (pk_u32 j = pk_tid(); j < dim; j += 256) sum += o[j] * o[j];
  float factor = pk_rsqrt(block_sum<256>(sum, room) / (float)dim + p.eps);
  for (pk_u32 j = pk_tid(); j < dim; j += 256) {
    float gate = opening(p.act, number(p.z, j, head, t, 0));
    line_of(p.out, head, t, 0).put(j, o[j] * factor * number(p.weight, j, 0, 0, 0) * gate);
  }
}
