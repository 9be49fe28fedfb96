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
