// A matrix of weights a (slot, token), chosen by index, times a column of activations.
#include "args/mul_mat_id.h"
#include "include/elements.h"
#include "include/mul_mat_any.h"
#include "include/mul_mat_id_tiles.h"
#include "include/mul_mat_id_vec.h"

#if PK_PART(any)
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

// Many columns, sorted by expert.
PK_KERNEL(mul_mat_id_sort, 256, mul_mat_id_args) {
  PK_LDS SortRoom room;
  mul_mat_id_sort(p, (pk_u32 *)p.common.scratch, room);
}

// Columns to halves, for matrix units.
PK_KERNEL(mul_mat_id_halves, 256, mul_mat_id_args) {
  put_halves(p.x, p.common.scratch + p.halves, thread_number(256, p.groups_x));
}
#endif

// By type of the weights: a column at a time in f32 (`vec`), the same rounded to eight bits (`q8`), many columns in f32 (`tile`) and
// on matrix units (`wmma`, where the number at the end says columns of a tile).
#if PK_PART(f32)
// VGPRs: at most 48
PK_KERNEL_WAVES(mul_mat_id_vec_f32, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_F32>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_f32, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_F32>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_f32_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_F32, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_f32_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_F32, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_f32_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_F32, 128, 128, 4>(p); }
#endif

#if PK_PART(f16)
// VGPRs: at most 48
PK_KERNEL_WAVES(mul_mat_id_vec_f16, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_F16>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_f16, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_F16>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_f16_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_F16, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_f16_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_F16, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_f16_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_F16, 128, 128, 4>(p); }
#endif

#if PK_PART(bf16)
// VGPRs: at most 48
PK_KERNEL_WAVES(mul_mat_id_vec_bf16, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_BF16>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_bf16, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_BF16>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_bf16_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_BF16, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_bf16_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_BF16, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_bf16_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_BF16, 128, 128, 4>(p); }
#endif

#if PK_PART(q4_0)
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_vec_q4_0, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q4_0>(p); }
// VGPRs: at most 72
PK_KERNEL_WAVES(mul_mat_id_q8_q4_0, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q4_0>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q4_0, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q4_0>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q4_0_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_0, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q4_0_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_0, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q4_0_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_0, 128, 128, 4>(p); }
#endif

#if PK_PART(q4_1)
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_vec_q4_1, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q4_1>(p); }
// VGPRs: at most 72
PK_KERNEL_WAVES(mul_mat_id_q8_q4_1, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q4_1>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q4_1, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q4_1>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q4_1_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_1, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q4_1_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_1, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q4_1_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_1, 128, 128, 4>(p); }
#endif

#if PK_PART(q5_0)
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_vec_q5_0, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q5_0>(p); }
// VGPRs: at most 72
PK_KERNEL_WAVES(mul_mat_id_q8_q5_0, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q5_0>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q5_0, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q5_0>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q5_0_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_0, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q5_0_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_0, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q5_0_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_0, 128, 128, 4>(p); }
#endif

#if PK_PART(q5_1)
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_vec_q5_1, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q5_1>(p); }
// VGPRs: at most 72
PK_KERNEL_WAVES(mul_mat_id_q8_q5_1, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q5_1>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q5_1, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q5_1>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q5_1_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_1, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q5_1_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_1, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q5_1_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_1, 128, 128, 4>(p); }
#endif

#if PK_PART(q8_0)
// VGPRs: at most 72
PK_KERNEL_WAVES(mul_mat_id_vec_q8_0, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q8_0>(p); }
// VGPRs: at most 48
PK_KERNEL_WAVES(mul_mat_id_q8_q8_0, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q8_0>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q8_0, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q8_0>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q8_0_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q8_0, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q8_0_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q8_0, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q8_0_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q8_0, 128, 128, 4>(p); }
#endif

#if PK_PART(q4_k)
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_vec_q4_k, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q4_K>(p); }
// VGPRs: at most 72
PK_KERNEL_WAVES(mul_mat_id_q8_q4_k, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q4_K>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q4_k, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q4_K>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q4_k_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_K, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q4_k_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_K, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q4_k_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q4_K, 128, 128, 4>(p); }
#endif

#if PK_PART(q5_k)
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_id_vec_q5_k, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q5_K>(p); }
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_q8_q5_k, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q5_K>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q5_k, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q5_K>(p); }
// VGPRs: at most 144
PK_KERNEL(mul_mat_id_wmma_q5_k_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_K, 64, 32, 2>(p); }
// VGPRs: at most 192
PK_KERNEL(mul_mat_id_wmma_q5_k_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_K, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q5_k_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q5_K, 128, 128, 4>(p); }
#endif

#if PK_PART(q6_k)
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mat_id_vec_q6_k, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE_Q6_K>(p); }
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mat_id_q8_q6_k, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE_Q6_K>(p); }
// VGPRs: at most 96
PK_KERNEL(mul_mat_id_tile_q6_k, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE_Q6_K>(p); }
// VGPRs: at most 168
PK_KERNEL(mul_mat_id_wmma_q6_k_32, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q6_K, 64, 32, 2>(p); }
// VGPRs: at most 216
PK_KERNEL(mul_mat_id_wmma_q6_k_64, 128, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q6_K, 64, 64, 2>(p); }
// VGPRs: at most 240
PK_KERNEL(mul_mat_id_wmma_q6_k_128, 256, mul_mat_id_args) { mul_mat_id_matrices<TYPE_Q6_K, 128, 128, 4>(p); }
#endif

// Types of few bits are decoded when they are fetched.
// VGPRs: at most 120
#define FEW_BITS(name, TYPE)                                                                                        \
  PK_KERNEL_WAVES(mul_mat_id_vec_##name, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_vec<TYPE>(p); }             \
  PK_KERNEL_WAVES(mul_mat_id_q8_##name, TEAM_THREADS, 8, mul_mat_id_args) { mul_mat_id_q8<TYPE>(p); }               \
  PK_KERNEL(mul_mat_id_tile_##name, 128, mul_mat_id_args) { mul_mat_id_tiles<TYPE>(p); }
#if PK_PART(q2_k)
FEW_BITS(q2_k, TYPE_Q2_K)
#endif
#if PK_PART(q3_k)
FEW_BITS(q3_k, TYPE_Q3_K)
#endif
#if PK_PART(iq1_s)
FEW_BITS(iq1_s, TYPE_IQ1_S)
#endif
#if PK_PART(iq1_m)
FEW_BITS(iq1_m, TYPE_IQ1_M)
#endif
#if PK_PART(iq2_xxs)
FEW_BITS(iq2_xxs, TYPE_IQ2_XXS)
#endif
#if PK_PART(iq2_xs)
FEW_BITS(iq2_xs, TYPE_IQ2_XS)
#endif
#if PK_PART(iq2_s)
FEW_BITS(iq2_s, TYPE_IQ2_S)
#endif
#if PK_PART(iq3_xxs)
FEW_BITS(iq3_xxs, TYPE_IQ3_XXS)
#endif
#if PK_PART(iq3_s)
FEW_BITS(iq3_s, TYPE_IQ3_S)
#endif
#if PK_PART(iq4_nl)
FEW_BITS(iq4_nl, TYPE_IQ4_NL)
#endif
#if PK_PART(iq4_xs)
FEW_BITS(iq4_xs, TYPE_IQ4_XS)
#endif
#if PK_PART(tq1_0)
FEW_BITS(tq1_0, TYPE_TQ1_0)
#endif
#if PK_PART(tq2_0)
FEW_BITS(tq2_0, TYPE_TQ2_0)
#endif
#if PK_PART(mxfp4)
FEW_BITS(mxfp4, TYPE_MXFP4)
#endif
#if PK_PART(nvfp4)
FEW_BITS(nvfp4, TYPE_NVFP4)
#endif
#if PK_PART(q1_0)
FEW_BITS(q1_0, TYPE_Q1_0)
#endif
#if PK_PART(q2_0)
FEW_BITS(q2_0, TYPE_Q2_0)
#endif
