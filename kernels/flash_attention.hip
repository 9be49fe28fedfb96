// Attention over cached keys and values: all forms lie in includes, which `gated_attention` shares.
#include "args/flash_attention.h"
#include "include/attention_any.h"
#include "include/attention_matrix.h"
#include "include/attention_merge.h"
#include "include/attention_split.h"
#include "include/attention_tile.h"

PKD float finish(const flash_attention_args &, pk_u32, pk_u32, pk_u32, pk_u32, float x) { return x; }
// Four columns of a result.
PKD void put_result(const flash_attention_args &p, pk_u32 head, pk_u32 token, pk_u32 quad, pk_f4 x) {
  ((pk_f4 *)row_of(p.out, head, token, 0))[quad] = x;
}

#if PK_PART(any)
PK_KERNEL(flash_attention_any, 256, flash_attention_args) { attend_any(p); }

// The merge of chunks.
// VGPRs: at most 80
PK_KERNEL(flash_attention_merge_64, 256, flash_attention_args) { attend_merge<64>(p); }
// VGPRs: at most 48
PK_KERNEL(flash_attention_merge_128, 256, flash_attention_args) { attend_merge<128>(p); }
// VGPRs: at most 48
PK_KERNEL(flash_attention_merge_256, 256, flash_attention_args) { attend_merge<256>(p); }
#endif

// By type of the cache: single tokens (`split`), by width and query heads at once; many tokens in f32 (`tile`) and on matrix units
// (`matrix`).
#if PK_PART(f32)
// VGPRs: at most 80
PK_KERNEL_WAVES(flash_attention_split_f32_64_2, 128, 12, flash_attention_args) { attend_split<TYPE_F32, 64, 2>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_f32_64_4, 128, 10, flash_attention_args) { attend_split<TYPE_F32, 64, 4>(p); }
// VGPRs: at most 168
PK_KERNEL_WAVES(flash_attention_split_f32_64_8, 128, 8, flash_attention_args) { attend_split<TYPE_F32, 64, 8>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_f32_128_2, 128, 12, flash_attention_args) { attend_split<TYPE_F32, 128, 2>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_f32_128_4, 128, 10, flash_attention_args) { attend_split<TYPE_F32, 128, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_f32_128_8, 128, 8, flash_attention_args) { attend_split<TYPE_F32, 128, 8>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_f32_256_2, 128, 12, flash_attention_args) { attend_split<TYPE_F32, 256, 2>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_f32_256_4, 128, 10, flash_attention_args) { attend_split<TYPE_F32, 256, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_f32_256_8, 128, 8, flash_attention_args) { attend_split<TYPE_F32, 256, 8>(p); }
// VGPRs: at most 168
PK_KERNEL(flash_attention_tile_f32_64, 256, flash_attention_args) { attend_tile<TYPE_F32, 64>(p); }
// VGPRs: at most 168
PK_KERNEL(flash_attention_tile_f32_128, 256, flash_attention_args) { attend_tile<TYPE_F32, 128>(p); }
// VGPRs: at most 192
PK_KERNEL(flash_attention_tile_f32_256, 256, flash_attention_args) { attend_tile<TYPE_F32, 256>(p); }
#endif

#if PK_PART(f16)
// VGPRs: at most 64
PK_KERNEL_WAVES(flash_attention_split_f16_64_2, 128, 12, flash_attention_args) { attend_split<TYPE_F16, 64, 2>(p); }
// VGPRs: at most 96
PK_KERNEL_WAVES(flash_attention_split_f16_64_4, 128, 10, flash_attention_args) { attend_split<TYPE_F16, 64, 4>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_f16_64_8, 128, 8, flash_attention_args) { attend_split<TYPE_F16, 64, 8>(p); }
// VGPRs: at most 96
PK_KERNEL_WAVES(flash_attention_split_f16_128_2, 128, 12, flash_attention_args) { attend_split<TYPE_F16, 128, 2>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_f16_128_4, 128, 10, flash_attention_args) { attend_split<TYPE_F16, 128, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_f16_128_8, 128, 8, flash_attention_args) { attend_split<TYPE_F16, 128, 8>(p); }
// VGPRs: at most 96
PK_KERNEL_WAVES(flash_attention_split_f16_256_2, 128, 12, flash_attention_args) { attend_split<TYPE_F16, 256, 2>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_f16_256_4, 128, 10, flash_attention_args) { attend_split<TYPE_F16, 256, 4>(p); }
// VGPRs: at most 168
PK_KERNEL_WAVES(flash_attention_split_f16_256_8, 128, 8, flash_attention_args) { attend_split<TYPE_F16, 256, 8>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_tile_f16_64, 256, flash_attention_args) { attend_tile<TYPE_F16, 64>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_tile_f16_128, 256, flash_attention_args) { attend_tile<TYPE_F16, 128>(p); }
// VGPRs: at most 168
PK_KERNEL(flash_attention_tile_f16_256, 256, flash_attention_args) { attend_tile<TYPE_F16, 256>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_matrix_f16_64, 256, flash_attention_args) { attend_matrix<TYPE_F16, 64>(p); }
// VGPRs: at most 192
PK_KERNEL(flash_attention_matrix_f16_128, 256, flash_attention_args) { attend_matrix<TYPE_F16, 128>(p); }
// VGPRs: at most 240
PK_KERNEL(flash_attention_matrix_f16_256, 256, flash_attention_args) { attend_matrix<TYPE_F16, 256>(p); }
#endif

#if PK_PART(q4_0)
// VGPRs: at most 80
PK_KERNEL_WAVES(flash_attention_split_q4_0_64_2, 128, 12, flash_attention_args) { attend_split<TYPE_Q4_0, 64, 2>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_q4_0_64_4, 128, 10, flash_attention_args) { attend_split<TYPE_Q4_0, 64, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_q4_0_64_8, 128, 8, flash_attention_args) { attend_split<TYPE_Q4_0, 64, 8>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_q4_0_128_2, 128, 12, flash_attention_args) { attend_split<TYPE_Q4_0, 128, 2>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_q4_0_128_4, 128, 10, flash_attention_args) { attend_split<TYPE_Q4_0, 128, 4>(p); }
// VGPRs: at most 168
PK_KERNEL_WAVES(flash_attention_split_q4_0_128_8, 128, 8, flash_attention_args) { attend_split<TYPE_Q4_0, 128, 8>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_q4_0_256_2, 128, 12, flash_attention_args) { attend_split<TYPE_Q4_0, 256, 2>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_q4_0_256_4, 128, 10, flash_attention_args) { attend_split<TYPE_Q4_0, 256, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_q4_0_256_8, 128, 8, flash_attention_args) { attend_split<TYPE_Q4_0, 256, 8>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_tile_q4_0_64, 256, flash_attention_args) { attend_tile<TYPE_Q4_0, 64>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_tile_q4_0_128, 256, flash_attention_args) { attend_tile<TYPE_Q4_0, 128>(p); }
// VGPRs: at most 168
PK_KERNEL(flash_attention_tile_q4_0_256, 256, flash_attention_args) { attend_tile<TYPE_Q4_0, 256>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_matrix_q4_0_64, 256, flash_attention_args) { attend_matrix<TYPE_Q4_0, 64>(p); }
// VGPRs: at most 192
PK_KERNEL(flash_attention_matrix_q4_0_128, 256, flash_attention_args) { attend_matrix<TYPE_Q4_0, 128>(p); }
// VGPRs: at most 240
PK_KERNEL(flash_attention_matrix_q4_0_256, 256, flash_attention_args) { attend_matrix<TYPE_Q4_0, 256>(p); }
#endif

#if PK_PART(q8_0)
// VGPRs: at most 80
PK_KERNEL_WAVES(flash_attention_split_q8_0_64_2, 128, 12, flash_attention_args) { attend_split<TYPE_Q8_0, 64, 2>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_q8_0_64_4, 128, 10, flash_attention_args) { attend_split<TYPE_Q8_0, 64, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_q8_0_64_8, 128, 8, flash_attention_args) { attend_split<TYPE_Q8_0, 64, 8>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_q8_0_128_2, 128, 12, flash_attention_args) { attend_split<TYPE_Q8_0, 128, 2>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_q8_0_128_4, 128, 10, flash_attention_args) { attend_split<TYPE_Q8_0, 128, 4>(p); }
// VGPRs: at most 168
PK_KERNEL_WAVES(flash_attention_split_q8_0_128_8, 128, 8, flash_attention_args) { attend_split<TYPE_Q8_0, 128, 8>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(flash_attention_split_q8_0_256_2, 128, 12, flash_attention_args) { attend_split<TYPE_Q8_0, 256, 2>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(flash_attention_split_q8_0_256_4, 128, 10, flash_attention_args) { attend_split<TYPE_Q8_0, 256, 4>(p); }
// VGPRs: at most 192
PK_KERNEL_WAVES(flash_attention_split_q8_0_256_8, 128, 8, flash_attention_args) { attend_split<TYPE_Q8_0, 256, 8>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_tile_q8_0_64, 256, flash_attention_args) { attend_tile<TYPE_Q8_0, 64>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_tile_q8_0_128, 256, flash_attention_args) { attend_tile<TYPE_Q8_0, 128>(p); }
// VGPRs: at most 168
PK_KERNEL(flash_attention_tile_q8_0_256, 256, flash_attention_args) { attend_tile<TYPE_Q8_0, 256>(p); }
// VGPRs: at most 144
PK_KERNEL(flash_attention_matrix_q8_0_64, 256, flash_attention_args) { attend_matrix<TYPE_Q8_0, 64>(p); }
// VGPRs: at most 192
PK_KERNEL(flash_attention_matrix_q8_0_128, 256, flash_attention_args) { attend_matrix<TYPE_Q8_0, 128>(p); }
// VGPRs: at most 240
PK_KERNEL(flash_attention_matrix_q8_0_256, 256, flash_attention_args) { attend_matrix<TYPE_Q8_0, 256>(p); }
#endif
