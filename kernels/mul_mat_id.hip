// A matrix of weights a (slot, token), chosen by index, times a column of activations.
#include "args/mul_mat_id.h"
#include "include/elements.h"
#include "include/mul_mat_any.h"
#include "include/mul_mat_id_vec.h"
#include "include/mul_mat_id_tiles.h"

PK_KERNEL(mul_mat_id_any, 256, mul_mat_id_args) {
  pk_u64 n = element_number(p.groups_x);
  if (n >= elements(p.out)) return;
  Place at = place_of(n, p.out);
  pk_u32 slot = at.i[1], token = at.i[2];
  pk_i64 expert = load_index(p.ids, slot, token, 0, 0);
  if (expert < 0 || expert >= p.weight.shape[2]) {
    if (pk_lane() == 0) report(p.common, 2, expert, p.weight.shape[2]);
    return;
  }
  const char *row = row_of(p.weight, at.i[0], (pk_u32)expert, 0);
  float sum = dot_any(p.weight, row, p.x, row_of(p.x, slot % p.x.shape[1], token, 0), p.x.shape[0]);
  if (pk_lane() == 0) store_at(p.out, at, sum);
}

MUL_MAT_ID_ONE(vec, f32, TYPE_F32)
MUL_MAT_ID_ONE(vec, f16, TYPE_F16)
MUL_MAT_ID_ONE(vec, bf16, TYPE_BF16)
MUL_MAT_ID_ONE(vec, q4_0, TYPE_Q4_0)
MUL_MAT_ID_ONE(vec, q4_1, TYPE_Q4_1)
MUL_MAT_ID_ONE(vec, q5_0, TYPE_Q5_0)
MUL_MAT_ID_ONE(vec, q5_1, TYPE_Q5_1)
MUL_MAT_ID_ONE(vec, q8_0, TYPE_Q8_0)
MUL_MAT_ID_ONE(vec, q4_k, TYPE_Q4_K)
MUL_MAT_ID_ONE(vec, q5_k, TYPE_Q5_K)
MUL_MAT_ID_ONE(vec, q6_k, TYPE_Q6_K)

MUL_MAT_ID_ONE(q8, q4_0, TYPE_Q4_0)
MUL_MAT_ID_ONE(q8, q4_1, TYPE_Q4_1)
MUL_MAT_ID_ONE(q8, q5_0, TYPE_Q5_0)
MUL_MAT_ID_ONE(q8, q5_1, TYPE_Q5_1)
MUL_MAT_ID_ONE(q8, q8_0, TYPE_Q8_0)
MUL_MAT_ID_ONE(q8, q4_k, TYPE_Q4_K)
MUL_MAT_ID_ONE(q8, q5_k, TYPE_Q5_K)
MUL_MAT_ID_ONE(q8, q6_k, TYPE_Q6_K)

PK_KERNEL(mul_mat_id_sort, 256, mul_mat_id_args) {
  PK_LDS SortRoom room;
  mul_mat_id_sort(p, (pk_u32 *)p.common.scratch, room);
}
PK_KERNEL(mul_mat_id_halves, 256, mul_mat_id_args) {
  put_halves(p.x, p.common.scratch + p.halves, thread_number(256, p.groups_x));
}
MUL_MAT_ID_MANY(f32, TYPE_F32)
MUL_MAT_ID_MANY(f16, TYPE_F16)
MUL_MAT_ID_MANY(bf16, TYPE_BF16)
MUL_MAT_ID_MANY(q4_0, TYPE_Q4_0)
MUL_MAT_ID_MANY(q4_1, TYPE_Q4_1)
MUL_MAT_ID_MANY(q5_0, TYPE_Q5_0)
MUL_MAT_ID_MANY(q5_1, TYPE_Q5_1)
MUL_MAT_ID_MANY(q8_0, TYPE_Q8_0)
MUL_MAT_ID_MANY(q4_k, TYPE_Q4_K)
MUL_MAT_ID_MANY(q5_k, TYPE_Q5_K)
MUL_MAT_ID_MANY(q6_k, TYPE_Q6_K)
