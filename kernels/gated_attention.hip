// Attention whose result is gated before it is stored: the forms of `flash_attention`, but for its sums over chunks, which
// that stem's own kernels leave.
#include "args/gated_attention.h"
#include "include/attention_any.h"
#include "include/attention_matrix.h"
#include "include/attention_merge.h"
#include "include/attention_tile.h"
#include "include/functions.h"

PKD float finish(const gated_attention_args &p, pk_u32 column, pk_u32 head, pk_u32 token, pk_u32 seq, float x) {
  return x * opening(p.act, load(p.gate, column, head, token, seq));
}
// Four columns of a result.
PKD void put_result(const gated_attention_args &p, pk_u32 head, pk_u32 token, pk_u32 quad, pk_f4 x) {
  pk_f4 gate = ((const pk_f4 *)row_of(p.gate, head, token, 0))[quad];
  PK_UNROLL for (int i = 0; i < 4; i++) x[i] *= opening(p.act, gate[i]);
  ((pk_f4 *)row_of(p.out, head, token, 0))[quad] = x;
}

#if PK_PART(any)
PK_KERNEL(gated_attention_any, 256, gated_attention_args) { attend_any(p); }

// The merge of chunks.
// VGPRs: at most 80
PK_KERNEL(gated_attention_merge_64, 256, gated_attention_args) { attend_merge<64>(p); }
// VGPRs: at most 48
PK_KERNEL(gated_attention_merge_128, 256, gated_attention_args) { attend_merge<128>(p); }
// VGPRs: at most 48
PK_KERNEL(gated_attention_merge_256, 256, gated_attention_args) { attend_merge<256>(p); }
#endif

// Many tokens by type of the cache: in f32 (`tile`) and on matrix units (`matrix`).
#if PK_PART(f32)
// VGPRs: at most 168
PK_KERNEL(gated_attention_tile_f32_64, 256, gated_attention_args) { attend_tile<TYPE_F32, 64>(p); }
// VGPRs: at most 168
PK_KERNEL(gated_attention_tile_f32_128, 256, gated_attention_args) { attend_tile<TYPE_F32, 128>(p); }
// VGPRs: at most 192
PK_KERNEL(gated_attention_tile_f32_256, 256, gated_attention_args) { attend_tile<TYPE_F32, 256>(p); }
#endif

#if PK_PART(f16)
// VGPRs: at most 144
PK_KERNEL(gated_attention_tile_f16_64, 256, gated_attention_args) { attend_tile<TYPE_F16, 64>(p); }
// VGPRs: at most 144
PK_KERNEL(gated_attention_tile_f16_128, 256, gated_attention_args) { attend_tile<TYPE_F16, 128>(p); }
// VGPRs: at most 168
PK_KERNEL(gated_attention_tile_f16_256, 256, gated_attention_args) { attend_tile<TYPE_F16, 256>(p); }
// VGPRs: at most 144
PK_KERNEL(gated_attention_matrix_f16_64, 256, gated_attention_args) { attend_matrix<TYPE_F16, 64>(p); }
// VGPRs: at most 192
PK_KERNEL(gated_attention_matrix_f16_128, 256, gated_attention_args) { attend_matrix<TYPE_F16, 128>(p); }
// VGPRs: at most 240
PK_KERNEL(gated_attention_matrix_f16_256, 256, gated_attention_args) { attend_matrix<TYPE_F16, 256>(p); }
#endif

#if PK_PART(q4_0)
// VGPRs: at most 144
PK_KERNEL(gated_attention_tile_q4_0_64, 256, gated_attention_args) { attend_tile<TYPE_Q4_0, 64>(p); }
// VGPRs: at most 144
PK_KERNEL(gated_attention_tile_q4_0_128, 256, gated_attention_args) { attend_tile<TYPE_Q4_0, 128>(p); }
// VGPRs: at most 168
PK_KERNEL(gated_attention_tile_q4_0_256, 256, gated_attention_args) { attend_tile<TYPE_Q4_0, 256>(p); }
// VGPRs: at most 144
PK_KERNEL(gated_attention_matrix_q4_0_64, 256, gated_attention_args) { attend_matrix<TYPE_Q4_0, 64>(p); }
// VGPRs: at most 192
PK_KERNEL(gated_attention_matrix_q4_0_128, 256, gated_attention_args) { attend_matrix<TYPE_Q4_0, 128>(p); }
// VGPRs: at most 240
PK_KERNEL(gated_attention_matrix_q4_0_256, 256, gated_attention_args) { attend_matrix<TYPE_Q4_0, 256>(p); }
#endif

#if PK_PART(q8_0)
// VGPRs: at most 144
PK_KERNEL(gated_attention_tile_q8_0_64, 256, gated_attention_args) { attend_tile<TYPE_Q8_0, 64>(p); }
// VGPRs: at most 144
PK_KERNEL(gated_attention_tile_q8_0_128, 256, gated_attention_args) { attend_tile<TYPE_Q8_0, 128>(p); }
// VGPRs: at most 168
PK_KERNEL(gated_attention_tile_q8_0_256, 256, gated_attention_args) { attend_tile<TYPE_Q8_0, 256>(p); }
// VGPRs: at most 144
PK_KERNEL(gated_attention_matrix_q8_0_64, 256, gated_attention_args) { attend_matrix<TYPE_Q8_0, 64>(p); }
// VGPRs: at most 192
PK_KERNEL(gated_attention_matrix_q8_0_128, 256, gated_attention_args) { attend_matrix<TYPE_Q8_0, 128>(p); }
// VGPRs: at most 240
PK_KERNEL(gated_attention_matrix_q8_0_256, 256, gated_attention_args) { attend_matrix<TYPE_Q8_0, 256>(p); }
#endif
