// Columns sorted by expert, then a block a tile.
#pragma once
#include "include/chosen_columns.h"
#include "include/mul_mat_id_sort.h"
#include "include/mul_mat_tile.h"
#include "include/mul_mat_wmma.h"

// Scratch memory holds the list, then from byte `halves` on x as halves.
template <int TYPE> PKD void mul_mat_id_tiles(const mul_mat_id_args &p) {
  PK_LDS TileRoom room;
  mul_mat_tile<TYPE>(chosen_columns(p, p.common.scratch), room);
}
template <int TYPE, pk_u32 ROWS, pk_u32 COLUMNS, pk_u32 WIDE> PKD void mul_mat_id_matrices(const mul_mat_id_args &p) {
  PK_LDS HalvesRoom<ROWS, COLUMNS> room;
  const ChosenColumns columns = chosen_columns(p, p.common.scratch);
  mul_mat_wmma<TYPE, ROWS, COLUMNS, WIDE>(columns, p.common.scratch + p.halves, room);
}
