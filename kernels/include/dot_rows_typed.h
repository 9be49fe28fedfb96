// Rows of weights whose type the launch does not know: the same for all threads of a block.
#pragma once
#include "include/dot_rows_q8.h"

// What a block has in workgroup memory: columns in f32 need none of it.
template <int COLUMNS> struct ExactRoom {
  SumRoom<COLUMNS> sums;
};
template <int COLUMNS> struct RoundedRoom {
  SumRoom<COLUMNS> sums;
  Rounded<COLUMNS> columns;
};

// Whether weights of a type multiply columns that are rounded in workgroup memory.
PKD bool is_rounding(int type) { return type != TYPE_F32 && type != TYPE_F16 && type != TYPE_BF16; }
template <int COLUMNS, class X>
PKD void dot_plain(int type, const Rows &rows, const X &x, pk_u32 width, const Team &team,
                   Sums<COLUMNS> &sums) {
  switch (type) {
  case TYPE_F16: dot_rows<TYPE_F16, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_BF16: dot_rows<TYPE_BF16, COLUMNS>(rows, x, width, team, sums); break;
  default: dot_rows<TYPE_F32, COLUMNS>(rows, x, width, team, sums);
  }
}
template <int COLUMNS, class X>
PKD void dot_typed(int type, const Rows &rows, const X &x, pk_u32 width, const Team &team,
                   ExactRoom<COLUMNS> &, bool, Sums<COLUMNS> &sums) {
  switch (type) {
  case TYPE_Q4_0: dot_rows<TYPE_Q4_0, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q4_1: dot_rows<TYPE_Q4_1, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q5_0: dot_rows<TYPE_Q5_0, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q5_1: dot_rows<TYPE_Q5_1, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q8_0: dot_rows<TYPE_Q8_0, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q4_K: dot_rows<TYPE_Q4_K, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q5_K: dot_rows<TYPE_Q5_K, COLUMNS>(rows, x, width, team, sums); break;
  case TYPE_Q6_K: dot_rows<TYPE_Q6_K, COLUMNS>(rows, x, width, team, sums); break;
  default: dot_plain<COLUMNS>(type, rows, x, width, team, sums);
  }
}
// `again`: these columns were rounded before.
template <int COLUMNS, class X>
PKD void dot_typed(int type, const Rows &rows, const X &x, pk_u32 width, const Team &team,
                   RoundedRoom<COLUMNS> &room, bool again, Sums<COLUMNS> &sums) {
  Rounded<COLUMNS> &r = room.columns;
  const bool held = again && width <= rounded_values(COLUMNS);
  switch (type) {
  case TYPE_Q4_0: dot_rows_q8<TYPE_Q4_0, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q4_1: dot_rows_q8<TYPE_Q4_1, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q5_0: dot_rows_q8<TYPE_Q5_0, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q5_1: dot_rows_q8<TYPE_Q5_1, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q8_0: dot_rows_q8<TYPE_Q8_0, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q4_K: dot_rows_q8<TYPE_Q4_K, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q5_K: dot_rows_q8<TYPE_Q5_K, COLUMNS>(rows, x, width, team, r, held, sums); break;
  case TYPE_Q6_K: dot_rows_q8<TYPE_Q6_K, COLUMNS>(rows, x, width, team, r, held, sums); break;
  default: dot_plain<COLUMNS>(type, rows, x, width, team, sums);
  }
}
