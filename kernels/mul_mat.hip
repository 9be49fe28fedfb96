// A matrix of weights times columns of activations.
#include "args/mul_mat.h"
#include "include/elements.h"
#include "include/mul_mat_any.h"
#include "include/mul_mat_vec.h"
#include "include/mul_mat_tiles.h"

PK_KERNEL(mul_mat_any, 256, mul_mat_args) {
  pk_u64 n = element_number(p.groups_x);
  if (n >= elements(p.out)) return;
  Place at = place_of(n, p.out);
  const char *row = row_of(p.weight, at.i[0], at.i[2] % p.weight.shape[2], at.i[3] % p.weight.shape[3]);
  float sum = dot_any(p.weight, row, p.x, row_of(p.x, at.i[1], at.i[2], at.i[3]), p.x.shape[0]);
  if (pk_lane() == 0) store_at(p.out, at, sum);
}

MUL_MAT_FEW(vec, f32, TYPE_F32)
MUL_MAT_FEW(vec, f16, TYPE_F16)
MUL_MAT_FEW(vec, bf16, TYPE_BF16)
MUL_MAT_FEW(vec, q4_0, TYPE_Q4_0)
MUL_MAT_FEW(vec, q4_1, TYPE_Q4_1)
MUL_MAT_FEW(vec, q5_0, TYPE_Q5_0)
MUL_MAT_FEW(vec, q5_1, TYPE_Q5_1)
MUL_MAT_FEW(vec, q8_0, TYPE_Q8_0)
MUL_MAT_FEW(vec, q4_k, TYPE_Q4_K)
MUL_MAT_FEW(vec, q5_k, TYPE_Q5_K)
MUL_MAT_FEW(vec, q6_k, TYPE_Q6_K)

MUL_MAT_FEW(q8, q4_0, TYPE_Q4_0)
MUL_MAT_FEW(q8, q4_1, TYPE_Q4_1)
MUL_MAT_FEW(q8, q5_0, TYPE_Q5_0)
MUL_MAT_FEW(q8, q5_1, TYPE_Q5_1)
MUL_MAT_FEW(q8, q8_0, TYPE_Q8_0)
MUL_MAT_FEW(q8, q4_k, TYPE_Q4_K)
MUL_MAT_FEW(q8, q5_k, TYPE_Q5_K)
MUL_MAT_FEW(q8, q6_k, TYPE_Q6_K)

PK_KERNEL(mul_mat_halves, 256, mul_mat_args) { put_halves(p.x, p.common.scratch, thread_number(256, p.groups_x)); }
MUL_MAT_MANY(f32, TYPE_F32)
MUL_MAT_MANY(f16, TYPE_F16)
MUL_MAT_MANY(bf16, TYPE_BF16)
MUL_MAT_MANY(q4_0, TYPE_Q4_0)
MUL_MAT_MANY(q4_1, TYPE_Q4_1)
MUL_MAT_MANY(q5_0, TYPE_Q5_0)
MUL_MAT_MANY(q5_1, TYPE_Q5_1)
MUL_MAT_MANY(q8_0, TYPE_Q8_0)
MUL_MAT_MANY(q4_k, TYPE_Q4_K)
MUL_MAT_MANY(q5_k, TYPE_Q5_K)
MUL_MAT_MANY(q6_k, TYPE_Q6_K)
