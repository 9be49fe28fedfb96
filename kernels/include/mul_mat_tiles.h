// Many columns.
#pragma once
#include "include/mul_mat_tile.h"
#include "include/mul_mat_wmma.h"
#include "include/plane_columns.h"

template <int TYPE> PKD void mul_mat_tiles(const mul_mat_args &p) {
  PK_LDS TileRoom room;
  mul_mat_tile<TYPE>(plane_columns(p, TILE), room);
}
template <int TYPE, pk_u32 ROWS, pk_u32 COLUMNS, pk_u32 WIDE> PKD void mul_mat_matrices(const mul_mat_args &p) {
  PK_LDS HalvesRoom<ROWS, COLUMNS> room;
  mul_mat_wmma<TYPE, ROWS, COLUMNS, WIDE>(plane_columns(p, COLUMNS), p.common.scratch, room);
}

// The numbers in names are columns of a tile.
#define MUL_MAT_MANY(type, TYPE)                                                                                     \
  PK_KERNEL(mul_mat_tile_##type, 128, mul_mat_args) { mul_mat_tiles<TYPE>(p); }                                      \
  PK_KERNEL(mul_mat_wmma_##type##_32, 128, mul_mat_args) { mul_mat_matrices<TYPE, 64, 32, 2>(p); }                   \
  PK_KERNEL(mul_mat_wmma_##type##_64, 128, mul_mat_args) { mul_mat_matrices<TYPE, 64, 64, 2>(p); }                   \
  PK_KERNEL(mul_mat_wmma_##type##_128, 256, mul_mat_args) { mul_mat_matrices<TYPE, 128, 128, 4>(p); }
