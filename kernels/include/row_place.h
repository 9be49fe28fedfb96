// Where rows written at given indices go.
#pragma once
#include "include/elements.h"

struct RowPlace {
  // The row of the target.
  pk_u32 row;
  // Whether anything is to be written.
  bool exists;
};
// The place of row i of `count`, found by a block of THREADS: none where the index is −1, or where a later row goes to the
// same place. `hidden` is a word of workgroup memory.
template <int THREADS>
PKD RowPlace place_for(const Common &common, const View &rows, int port, Place i, pk_u32 count, pk_u32 limit, int *hidden) {
  const pk_u32 b = i.i[2] % rows.shape[1], c = i.i[3] % rows.shape[2];
  const pk_i64 index = load_index(rows, i.i[1], b, c, 0);
  if (pk_tid() == 0) *hidden = 0;
  pk_sync();
  for (pk_u32 t = i.i[1] + 1 + pk_tid(); t < count; t += THREADS)
    if (load_index(rows, t, b, c, 0) == index) *hidden = 1;
  pk_sync();
  if (index == -1) return {0, false};
  if (index < 0 || index >= (pk_i64)limit) {
    if (pk_tid() == 0) report(common, port, index, limit);
    return {0, false};
  }
  return {(pk_u32)index, *hidden == 0};
}
