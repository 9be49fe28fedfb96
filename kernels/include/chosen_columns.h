// Columns of a tile: those from `first` on, below `end`, of the list in which the columns of an expert lie together. The list
// holds the number of tiles, from word 4 on a tile every four words, and from word `list` on slots and tokens as one number.
#pragma once
#include "args/mul_mat_id.h"
#include "include/weights.h"

struct ChosenColumns {
  const mul_mat_id_args &p;
  const pk_u32 *words;
  pk_u32 first, end, expert;

  __device__ pk_u32 rows() const { return p.out.shape[0]; }
  __device__ pk_u32 width() const { return p.x.shape[0]; }
  __device__ WeightRow weight(pk_u32 row) const { return weight_row(p.weight, row, expert, 0); }
  __device__ pk_u32 slot(pk_u32 n) const { return words[p.list + n] % p.ids.shape[0]; }
  __device__ pk_u32 token(pk_u32 n) const { return words[p.list + n] / p.ids.shape[0]; }
  __device__ const char *x(pk_u32 n) const { return row_of(p.x, slot(n) % p.x.shape[1], token(n), 0); }
  __device__ float *out(pk_u32 n) const { return (float *)row_of(p.out, slot(n), token(n), 0); }
  // The row of x among all.
  __device__ pk_u32 number(pk_u32 n) const { return token(n) * p.x.shape[1] + slot(n) % p.x.shape[1]; }
};
// Without columns if there is no such tile.
PKD ChosenColumns chosen_columns(const mul_mat_id_args &p, const char *list) {
  const pk_u32 *words = (const pk_u32 *)list;
  if ((pk_u32)pk_bx() >= words[0]) return {p, words, 0, 0, 0};
  const pk_u32 *tile = words + 4 + 4 * pk_bx();
  return {p, words, tile[0], tile[1], tile[2]};
}
