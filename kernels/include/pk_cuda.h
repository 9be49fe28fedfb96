// NVIDIA, sm_80 and later.
#pragma once
// A kernel: its name, the threads of a block at most, and the structure of its arguments, which it knows as `p`.
#define PK_KERNEL(name, threads, args) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ args p)
// The same for a kernel that needs this many waves a SIMD at least, which is a matter of AMD's registers.
#define PK_KERNEL_WAVES(name, threads, waves, args) PK_KERNEL(name, threads, args)
// The same where this many blocks have a multiprocessor's registers to share.
#define PK_KERNEL_BLOCKS(name, threads, blocks, args) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ args p)
// Sums are added in the order in which they are written: always so here. Products and sums do get joined: see pk_times.
#define PK_IN_ORDER
#define PKD static __device__ __forceinline__
#define PK_LDS __shared__ __align__(16)
// A table of numbers that come with the code.
#define PK_TABLE static const __device__
#define PK_UNROLL _Pragma("unroll")
// A loop that stays one: what unrolling would keep in registers is not worth it.
#define PK_ROLLED _Pragma("unroll 1")

struct alignas(16) pk_f4 {
  float x, y, z, w;
  __device__ float &operator[](int i) { return (&x)[i]; }
  __device__ const float &operator[](int i) const { return (&x)[i]; }
};

PKD int pk_tid() { return threadIdx.x; }
PKD int pk_bx() { return blockIdx.x; }
PKD int pk_by() { return blockIdx.y; }
PKD int pk_bz() { return blockIdx.z; }
PKD void pk_sync() { __syncthreads(); }
PKD void pk_wave_sync() { __syncwarp(); }
// Bytes that numbers below eight choose: four of `low`, then four of `high`.
PKD unsigned pk_bytes(unsigned low, unsigned high, unsigned numbers) {
  // This instruction takes numbers of four bits.
  const unsigned two = numbers | numbers >> 4;
  return __byte_perm(low, high, (two & 255) | (two >> 8 & 0xff00u));
}
PKD float pk_exp2(float x) { return exp2f(x); }
PKD float pk_log2(float x) { return log2f(x); }
PKD float pk_rsqrt(float x) { return rsqrtf(x); }
PKD float pk_rint(float x) { return rintf(x); }
PKD double pk_rint(double x) { return rint(x); }
PKD float pk_fma(float a, float b, float c) { return fmaf(a, b, c); }
PKD void pk_in_turn() {}
PKD int pk_uniform(int x) { return x; }
PKD float pk_sqrt(float x) { return sqrtf(x); }
// The same value, about which the compiler knows nothing: fast-math would reorder or join what is around it.
PKD float pk_opaque(float x) {
  asm volatile("" : "+f"(x));
  return x;
}
// The value, computed here and not later: operands that wait for it hold registers. ptxas places what it computes by itself.
PKD float pk_here(float x) { return x; }
// The same word, of which the compiler does not compute bytes apart.
PKD unsigned pk_whole(unsigned x) {
  asm("" : "+r"(x));
  return x;
}
// A product rounded by itself: no sum takes it in. Assembly without text would not keep ptxas from joining them.
PKD float pk_times(float a, float b) { return __fmul_rn(a, b); }
template <int M, class T> PKD T pk_xor(T x) { return __shfl_xor_sync(0xffffffffu, x, M); }
template <class T> PKD T pk_shuffle(T x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
PKD unsigned pk_atomic_add(unsigned *p, unsigned x) { return atomicAdd(p, x); }
PKD unsigned pk_atomic_swap_if(unsigned *p, unsigned from, unsigned to) { return atomicCAS(p, from, to); }
PKD int pk_dot4(int a, int b, int c) { return __dp4a(a, b, c); }
// The same for bytes of `a` without sign.
PKD int pk_dot4_unsigned(unsigned a, int b, int c) {
  int d;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// Half precision by instructions: their header is not where the run-time compiler looks.
struct alignas(2) pk_h {
  unsigned short bits;
  pk_h() = default;
  __device__ pk_h(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  __device__ operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};
struct pk_frag { unsigned r[4]; };
struct pk_acc { float v[8]; };

PKD void pk_zero(pk_acc &c) {
  for (int i = 0; i < 8; i++) c.v[i] = 0;
}
PKD float &pk_el(pk_acc &c, int i) { return c.v[i]; }
PKD int pk_row(int i) { return ((pk_tid() & 31) >> 2) + 8 * ((i >> 1) & 1); }
PKD int pk_col(int i) { return (pk_tid() & 3) * 2 + (i & 1) + 8 * (i >> 2); }
PKD unsigned pk_pair(const pk_h *p) { return *(const unsigned *)p; }
PKD void pk_lda(pk_frag &f, const pk_h *p, int ld) { // the A fragment of m16n8k16
  int lane = pk_tid() & 31, g = lane >> 2, k = (lane & 3) * 2;
  f.r[0] = pk_pair(p + g * ld + k);
  f.r[1] = pk_pair(p + (g + 8) * ld + k);
  f.r[2] = pk_pair(p + g * ld + k + 8);
  f.r[3] = pk_pair(p + (g + 8) * ld + k + 8);
}
PKD void pk_ldb(pk_frag &f, const pk_h *p, int ld) { // two n8 halves
  int lane = pk_tid() & 31, g = lane >> 2, k = (lane & 3) * 2;
  f.r[0] = pk_pair(p + g * ld + k);
  f.r[1] = pk_pair(p + g * ld + k + 8);
  f.r[2] = pk_pair(p + (g + 8) * ld + k);
  f.r[3] = pk_pair(p + (g + 8) * ld + k + 8);
}
PKD void pk_mma(pk_acc &c, const pk_frag &a, const pk_frag &b) {
  for (int h = 0; h < 2; h++)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c.v[4 * h]), "+f"(c.v[4 * h + 1]), "+f"(c.v[4 * h + 2]), "+f"(c.v[4 * h + 3])
                 : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[2 * h]), "r"(b.r[2 * h + 1]));
}
