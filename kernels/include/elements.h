// Elements by their coordinates, for kernels of one thread an element.
#pragma once
#include "include/view.h"

PKD char *address(const View &v, Place at) { return row_of(v, at.i[1], at.i[2], at.i[3]) + at.i[0] * v.stride[0]; }
PKD float load_at(const View &v, Place at) { return read_plain(v.type, address(v, at)); }
PKD void store_at(const View &v, Place at, float x) { write_plain(v.type, address(v, at), x); }

// Where a smaller tensor, repeated along every dimension, supplies an element.
PKD Place repeated(Place at, const View &v) {
  return {{at.i[0] % v.shape[0], at.i[1] % v.shape[1], at.i[2] % v.shape[2], at.i[3] % v.shape[3]}};
}

// The nearest integer towards zero that 32 bits hold; 0 for NaN.
PKD int to_int(float x) {
  if (pk_is_nan(x)) return 0;
  if (x >= 2147483648.0f) return 0x7fffffff;
  if (x <= -2147483648.0f) return -0x7fffffff - 1;
  return (int)x;
}
// A number of a plain type or an integer; integers are cut where they are stored.
PKD float read_number(int type, const char *p) { return type == TYPE_I32 ? (float)(int)read32(p) : read_plain(type, p); }
PKD void write_number(int type, char *p, float x) {
  if (type == TYPE_I32) write32(p, (pk_u32)to_int(x));
  else write_plain(type, p, x);
}
