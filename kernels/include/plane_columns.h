// Columns of a tile that meet one matrix of weights: those from `first` on, below `end`.
#pragma once
#include "args/mul_mat.h"
#include "include/weights.h"

struct PlaneColumns {
  const mul_mat_args &p;
  pk_u32 first, end, i2, i3;

  __device__ pk_u32 rows() const { return p.out.shape[0]; }
  __device__ pk_u32 width() const { return p.x.shape[0]; }
  __device__ WeightRow weight(pk_u32 row) const {
    return weight_row(p.weight, row, i2 % p.weight.shape[2], i3 % p.weight.shape[3]);
  }
  __device__ const char *x(pk_u32 n) const { return row_of(p.x, n, i2, i3); }
  __device__ float *out(pk_u32 n) const { return (float *)row_of(p.out, n, i2, i3); }
  // The row of x among all.
  __device__ pk_u32 number(pk_u32 n) const { return (i3 * p.x.shape[2] + i2) * p.x.shape[1] + n; }
};
PKD PlaneColumns plane_columns(const mul_mat_args &p, pk_u32 tile) {
  return {p, pk_bx() * tile, p.out.shape[1], pk_bz() % p.out.shape[2], pk_bz() / p.out.shape[2]};
}
