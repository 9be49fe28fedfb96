// Exchanges between lanes and matrix products, one kernel for each, so that a test can tell which is wrong.
#include "include/pk.h"

typedef short s16 __attribute__((ext_vector_type(16)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));

// o[block] = sum of n numbers.
extern "C" __global__ void __launch_bounds__(256) blocksum(const float *x, float *o, int n) {
  PK_LDS float partial[8];
  int t = pk_tid();
  float s = 0;
  for (int i = pk_bx() * n + t; i < (pk_bx() + 1) * n; i += 256) s += x[i];
  s = pk_wsum(s);
  if ((t & 31) == 0) partial[t >> 5] = s;
  pk_sync();
  if (t < 32) {
    float r = t < 8 ? partial[t] : 0.f;
    r = pk_wsum(r);
    if (t == 0) o[pk_bx()] = r;
  }
}

// C[M][N] = A[M][K] * B[N][K]^T through LDS, tiles of 32 x 32.
extern "C" __global__ void __launch_bounds__(128) gemm16(const pk_h *A, const pk_h *B, float *C, int N, int K) {
  PK_LDS pk_h la[32 * 24];
  PK_LDS pk_h lb[32 * 24];
  int t = pk_tid(), w = t >> 5, m0 = pk_by() * 32, n0 = pk_bx() * 32;
  pk_acc c;
  pk_zero(c);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = t; i < 32 * 16; i += 128) {
      int r = i >> 4, x = i & 15;
      la[r * 24 + x] = A[(long)(m0 + r) * K + k0 + x];
      lb[r * 24 + x] = B[(long)(n0 + r) * K + k0 + x];
    }
    pk_sync();
    pk_frag a, b;
    pk_lda(a, la + (w >> 1) * 16 * 24, 24);
    pk_ldb(b, lb + (w & 1) * 16 * 24, 24);
    pk_mma(c, a, b);
    pk_sync();
  }
  PK_UNROLL for (int i = 0; i < 8; i++)
    C[(long)(m0 + (w >> 1) * 16 + pk_row(i)) * N + n0 + (w & 1) * 16 + pk_col(i)] = pk_el(c, i);
}

extern "C" __global__ void wmma_bf16(const short *a, const short *b, float *c) {
  int lane = pk_tid() & 31;
  pk_f8 sum = {};
  sum = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(*(const s16 *)(a + (lane & 15) * 16), *(const s16 *)(b + (lane & 15) * 16), sum);
  for (int i = 0; i < 8; i++) c[pk_row(i) * 16 + pk_col(i)] = sum[i];
}

// Halves as accumulators, in the low half of each register and then in the high one.
extern "C" __global__ void wmma_f16(const pk_h *a, const pk_h *b, pk_h *c) {
  int lane = pk_tid() & 31;
  h16 x = *(const h16 *)(a + (lane & 15) * 16), y = *(const h16 *)(b + (lane & 15) * 16), sum = {};
  sum = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(x, y, sum, false);
  sum = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(y, x, sum, true);
  for (int i = 0; i < 8; i++) {
    c[pk_row(i) * 16 + pk_col(i)] = sum[2 * i];
    c[256 + pk_row(i) * 16 + pk_col(i)] = sum[2 * i + 1];
  }
}

extern "C" __global__ void wmma_iu8(const int *a, const int *b, int *c) {
  int lane = pk_tid() & 31;
  i8 sum = {};
  sum = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, *(const i4 *)(a + (lane & 15) * 4), true, *(const i4 *)(b + (lane & 15) * 4), sum, false);
  for (int i = 0; i < 8; i++) c[pk_row(i) * 16 + pk_col(i)] = sum[i];
}

// Unsigned by signed nibbles.
extern "C" __global__ void wmma_iu4(const int *a, const int *b, int *c) {
  int lane = pk_tid() & 31;
  i8 sum = {};
  sum = __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(false, *(const i2 *)(a + (lane & 15) * 2), true, *(const i2 *)(b + (lane & 15) * 2), sum, false);
  for (int i = 0; i < 8; i++) c[pk_row(i) * 16 + pk_col(i)] = sum[i];
}

// A wrong fragment: lanes 16..31 hold rows of their own.
extern "C" __global__ void wmma_not_repeated(const pk_h *a, float *c) {
  int lane = pk_tid() & 31;
  pk_frag f;
  pk_acc sum;
  pk_zero(sum);
  f.v = *(const pk_h16 *)(a + lane * 16);
  pk_mma(sum, f, f);
  for (int i = 0; i < 8; i++) c[pk_row(i) * 16 + pk_col(i)] = pk_el(sum, i);
}

extern "C" __global__ void wmma_masked(const pk_h *a, float *c, int n) {
  int lane = pk_tid() & 31;
  pk_frag f;
  pk_acc sum;
  pk_zero(sum);
  f.v = *(const pk_h16 *)(a + (lane & 15) * 16);
  if (lane < n) pk_mma(sum, f, f);
  for (int i = 0; i < 8; i++) c[pk_row(i) * 16 + pk_col(i)] = pk_el(sum, i);
}

// Row k of o is one pattern of lanes.
#define DPP(control) __builtin_amdgcn_update_dpp(-1, v, control, 0xf, 0xf, false)
extern "C" __global__ void exchange(const int *x, int *o) {
  int t = pk_tid(), v = x[t], k = 0;
#define ROW(value) o[32 * k++ + t] = (value)
  ROW(pk_xor<1>(v));
  ROW(pk_xor<2>(v));
  ROW(pk_xor<4>(v));
  ROW(pk_xor<8>(v));
  ROW(pk_xor<16>(v));
  ROW(DPP(0x101)); // row_shl:1
  ROW(DPP(0x112)); // row_shr:2
  ROW(DPP(0x124)); // row_ror:4
  ROW(DPP(0x140)); // row_mirror
  ROW(DPP(0x141)); // row_half_mirror
  ROW(DPP(0x153)); // row_share:3
  ROW(DPP(0x1b)); // quad_perm:[3,2,1,0]
  ROW(__builtin_amdgcn_update_dpp(-1, v, 0x161, 0x1, 0xf, false)); // row_xmask:1 in row 0
  ROW(__builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, true)); // row_shr:1, zero from outside
  ROW(__builtin_amdgcn_ds_swizzle(v, 0x801f)); // quad_perm:[3,3,1,0]
  ROW(__builtin_amdgcn_ds_swizzle(v, 0x401f)); // BITMASK_PERM xor 16
  ROW(__builtin_amdgcn_ds_bpermute(4 * ((t * 7 + 3) & 31), v));
  ROW(__builtin_amdgcn_ds_permute(4 * ((t * 7 + 3) & 31), v));
  ROW(__builtin_amdgcn_mov_dpp8(v, 0xfac688)); // dpp8:[0,1,2,3,4,5,6,7], the identity
  ROW(__builtin_amdgcn_permlane16(v, v, 0x89abcdef, 0x01234567, false, false));
  ROW(__builtin_amdgcn_readlane(v, 5) + __builtin_amdgcn_readfirstlane(v));
  ROW(__builtin_amdgcn_mbcnt_lo(0x55555555u, t));
}
