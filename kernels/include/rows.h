// Rows shared by threads: LANES of a block serve one row, thread l every LANES-th item from item l on. Items are floats or
// groups of four. The first HELD items of a thread stay in registers, so short rows are read once. Rows may be changed in
// place: a thread reads an item before it writes there, and no other thread reads it.
#pragma once
#include "include/block.h"
#include "include/quads.h"

// The number of the row that this thread serves, in blocks of THREADS.
template <int LANES, int THREADS> PKD pk_u32 row_number() {
  return (pk_u32)pk_bx() * (THREADS / LANES) + (pk_u32)pk_tid() / LANES;
}
PKD pk_u32 row_count(const View &v) { return v.shape[1] * v.shape[2] * v.shape[3]; }

// Scales a row by the root of its mean square and by factors. `read(k)` gives item k, `again(k)` gives it once more where it
// was not held, `factor(k)` its factor; `put(k, item)` takes the result. `room` is workgroup memory as block_sum wants it.
template <int LANES, int HELD, class Item, class Read, class Again, class Factor, class Put>
PKD void norm_row(pk_u32 items, pk_u32 width, float eps, float *room, Read read, Again again, Factor factor, Put put) {
  const pk_u32 lane = (pk_u32)pk_tid() % LANES;
  Item held[HELD];
  float square = 0;
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    pk_u32 k = lane + j * LANES;
    if (k < items) {
      Item x = read(k);
      square += dot(x, x);
      // The factors are there before the root is.
      held[j] = times(x, factor(k));
    }
  }
  for (pk_u32 k = lane + HELD * LANES; k < items; k += LANES) {
    Item x = read(k);
    square += dot(x, x);
  }
  float root = pk_rsqrt(block_sum<LANES>(square, room) / (float)width + eps);
  PK_UNROLL for (int j = 0; j < HELD; j++) {
    pk_u32 k = lane + j * LANES;
    if (k < items) put(k, scaled(held[j], root));
  }
  for (pk_u32 k = lane + HELD * LANES; k < items; k += LANES) put(k, scaled(times(again(k), factor(k)), root));
}
