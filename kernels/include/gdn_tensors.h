// The delta rule with operands and results in tensors, for `gated_delta_net` and `gdn_core`, for any layout. States live in a
// pool where there are segments; else the result holds the outputs of all tokens and then states, newest first.
#pragma once
#include "include/gdn_any.h"

// What a thread reads and writes. A stem says what decays and write strengths are: decay_of, beta_of, unit_of.
template <class Args> struct Tensors {
  const Args &p;
  // The first plane of the pool that a segment's states go to.
  pk_u32 base;

  __device__ pk_u32 dim() const { return p.v.shape[0]; }
  __device__ Line key(const View &from, const Channel &c, pk_u32 t) const {
    pk_u32 seq = c.seq / (p.v.shape[3] / p.q.shape[3]);
    return line_of(from, key_head(p.heads, c.head, p.v.shape[1], p.q.shape[1]), t, seq);
  }
  __device__ Line k(const Channel &c, pk_u32 t) const { return key(p.k, c, t); }
  __device__ Line q(const Channel &c, pk_u32 t) const { return key(p.q, c, t); }
  __device__ float v(const Channel &c, pk_u32 t) const { return number(p.v, c.j, c.head, t, c.seq); }
  __device__ float decay(const Channel &c, pk_u32 t, pk_u32 i) const { return decay_of(p, c.head, t, c.seq, i); }
  __device__ float beta(const Channel &c, pk_u32 t) const { return beta_of(p, c.head, t, c.seq); }
  __device__ float unit(float square) const { return unit_of(p, square); }
  // An element of the flat result.
  __device__ void put(pk_u64 e, float x) const {
    line_of(p.out, (pk_u32)(e / p.out.shape[0]), 0, 0).put((pk_u32)(e % p.out.shape[0]), x);
  }
  __device__ void emit(const Channel &c, pk_u32 t, float x) const {
    if (is_bound(p.segments)) line_of(p.out, c.head, t, 0).put(c.j, x);
    else put((((pk_u64)c.seq * p.v.shape[2] + t) * p.v.shape[1] + c.head) * p.v.shape[0] + c.j, x);
  }
  __device__ void keep(const Channel &c, pk_u32 plane, pk_u32 i, float x) const {
    if (is_bound(p.segments)) {
      line_of(p.state_out, c.j, c.head, base + plane).put(i, x);
      return;
    }
    pk_u64 at = ((pk_u64)plane * p.v.shape[3] + c.seq) * p.v.shape[1] + c.head;
    pk_u64 outputs = (pk_u64)p.v.shape[2] * p.v.shape[3] * p.v.shape[1] * p.v.shape[0];
    put(outputs + (at * p.v.shape[0] + c.j) * p.v.shape[0] + i, x);
  }
};

// Scratch memory: where the tokens and states of each sequence or segment lie, then the states that threads work on.
struct Entry {
  pk_u32 first, count, base, seq;
};
template <class Args> PKD pk_u32 entries_of(const Args &p) {
  return is_bound(p.segments) ? p.segments.shape[1] : p.v.shape[3];
}
template <class Args> PKD Entry &entry_at(const Args &p, pk_u32 entry) { return ((Entry *)p.common.scratch)[entry]; }
template <class Args> PKD float *work_row(const Args &p, const Channel &c, pk_u32 entry) {
  float *states = (float *)&entry_at(p, entries_of(p));
  return states + (((pk_u64)entry * p.v.shape[1] + c.head) * p.v.shape[0] + c.j) * p.v.shape[0];
}
// The value channel of a thread, and its sequence or segment; false where there is none.
template <class Args> PKD bool channel_of(const Args &p, Channel &c, pk_u32 &entry) {
  pk_u64 n = thread_number(256, p.groups_x);
  pk_u32 dim = p.v.shape[0], heads = p.v.shape[1];
  if (n >= (pk_u64)dim * heads * entries_of(p)) return false;
  entry = (pk_u32)(n / dim / heads);
  c = {(pk_u32)(n % dim), (pk_u32)(n / dim % heads), is_bound(p.segments) ? 0 : entry};
  return true;
}

// Puts a state's row into scratch memory, and where the tokens lie. A sequence has its state in `plane`, or
// starts with zeros.
template <class Args>
PKD void load_row(const Args &p, const Channel &c, pk_u32 entry, pk_u32 plane, bool fresh, int segments_port) {
  Entry place = {0, p.v.shape[2], 0, c.seq};
  bool first = c.j == 0 && c.head == 0;
  if (is_bound(p.segments)) {
    pk_u32 planes = p.state.shape[3] < p.state_out.shape[3] ? p.state.shape[3] : p.state_out.shape[3];
    Bounds bounds = {p.v.shape[2], planes / p.snapshots, segments_port};
    bool holds = segments_hold(p.common, p.segments, bounds, first && entry == 0);
    Segment s = segment_at(p.segments, entry);
    place = {s.row, holds ? s.count : 0, s.slot * p.snapshots, 0};
    plane = first_plane(s, p.snapshots);
    fresh = s.fresh;
  }
  if (first) entry_at(p, entry) = place;
  if (place.count == 0 && is_bound(p.segments)) return;
  Line from = line_of(p.state, c.j, c.head, plane);
  float *row = work_row(p, c, entry);
  PK_ROLLED for (pk_u32 i = 0; i < p.v.shape[0]; i++) row[i] = fresh ? 0.0f : from.get(i);
}
