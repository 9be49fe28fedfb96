// A head's norm and rotary embedding, by a block.
#pragma once
#include "include/block.h"
#include "include/quads.h"
#include "include/rotary.h"

const int HEAD_THREADS = 128;
const int HEAD_WAVES = HEAD_THREADS / 32;

// A head of a token: `x(d)` gives dimension d, `put(d, x)` takes it. `room` holds HEAD_WAVES words of workgroup memory; another
// head may follow behind a barrier.
template <class Args, class X, class Put>
PKD void turn_values(const Args &p, const Angles &angles, pk_u32 width, pk_u32 token, X x, float *room, Put put) {
  const pk_u32 pairs = pairs_of(angles, width);
  float square = 0;
  for (pk_u32 d = pk_tid(); d < width; d += HEAD_THREADS) square += x(d) * x(d);
  const float root = pk_rsqrt(block_sum<HEAD_THREADS>(square, room) / (float)width + p.eps);
  auto normed = [&](pk_u32 d) { return x(d) * (root * load(p.weight, d, 0, 0, 0)); };
  for (pk_u32 k = pk_tid(); k < width - pairs; k += HEAD_THREADS) turn_item(angles, k, pairs, token, normed, put);
}
// The head at i, for any layout.
template <class Args, class Put> PKD void turn_head(const Args &p, const Angles &angles, Place i, float *room, Put put) {
  auto x = [&](pk_u32 d) { return load(p.x, d, i.i[1], i.i[2], 0); };
  turn_values(p, angles, p.x.shape[0], i.i[2], x, room, put);
}

// Values of a head that the fast forms keep in workgroup memory.
const int MOST_HEAD = 1024;

// The same for packed rows of groups of four floats, at most MOST_HEAD of them: `head` holds the normed values.
template <class Args, class Put>
PKD void turn_quads(const Args &p, const Angles &angles, Place i, float *head, float *room, Put put) {
  const pk_u32 width = p.x.shape[0], pairs = pairs_of(angles, width);
  const char *x = row_at(p.x, i);
  const int HELD = MOST_HEAD / 4 / HEAD_THREADS;
  pk_f4 held[HELD];
  float square = 0;
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    pk_u32 k = pk_tid() + j * HEAD_THREADS;
    if (k < width / 4) {
      pk_f4 v = quad(x, k);
      square += dot(v, v);
      held[j] = times(v, quad(p.weight.data, k));
    }
  }
  const float root = pk_rsqrt(block_sum<HEAD_THREADS>(square, room) / (float)width + p.eps);
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    pk_u32 k = pk_tid() + j * HEAD_THREADS;
    if (k < width / 4) put_quad((char *)head, k, scaled(held[j], root));
  }
  pk_sync();
  auto normed = [&](pk_u32 d) { return head[d]; };
  for (pk_u32 k = pk_tid(); k < width - pairs; k += HEAD_THREADS) turn_item(angles, k, pairs, i.i[2], normed, put);
}
