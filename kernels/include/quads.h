// Groups of four floats, and the same operations on single ones: bodies are written once for both.
#pragma once
#include "include/view.h"

// Group k of a row that begins at a multiple of 16 bytes.
PKD pk_f4 quad(const char *row, pk_u32 k) { return ((const pk_f4 *)row)[k]; }
PKD void put_quad(char *row, pk_u32 k, pk_f4 v) { ((pk_f4 *)row)[k] = v; }
// Coordinates of group number `at`; the innermost counts groups.
PKD Place place_of_quad(pk_u64 at, const View &v) { return place_in(at, v.shape[0] / 4, v); }
// Coordinates of row number `at`.
PKD Place place_of_row(pk_u32 at, const View &v) { return place_in(at, 1, v); }
// The row of a view.
PKD char *row_at(const View &v, Place row) { return row_of(v, row.i[1], row.i[2], row.i[3]); }

PKD pk_f4 quad_of(float x) {
  pk_f4 r;
  PK_UNROLL for (int i = 0; i < 4; i++) r[i] = x;
  return r;
}

PKD float dot(float a, float b) { return a * b; }
PKD float dot(pk_f4 a, pk_f4 b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]; }
PKD float total(float a) { return a; }
PKD float total(pk_f4 a) { return (a[0] + a[1]) + (a[2] + a[3]); }

// The function of each value, and of each pair of values.
template <class F> PKD float each(float a, F f) { return f(a); }
template <class F> PKD pk_f4 each(pk_f4 a, F f) {
  pk_f4 r;
  PK_UNROLL for (int i = 0; i < 4; i++) r[i] = f(a[i]);
  return r;
}
template <class F> PKD float each(float a, float b, F f) { return f(a, b); }
template <class F> PKD pk_f4 each(pk_f4 a, pk_f4 b, F f) {
  pk_f4 r;
  PK_UNROLL for (int i = 0; i < 4; i++) r[i] = f(a[i], b[i]);
  return r;
}
template <class T> PKD T times(T a, T b) {
  return each(a, b, [](float x, float y) { return x * y; });
}
template <class T> PKD T plus(T a, T b) {
  return each(a, b, [](float x, float y) { return x + y; });
}
template <class T> PKD T scaled(T a, float b) {
  return each(a, [b](float x) { return x * b; });
}
