// AMD gfx11, wave32.
#pragma once
#if defined(PK_BARE) // no ROCm header at all: the offline build
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
// Not launch_bounds(n): clang ignores that attribute for AMDGPU and plans for 1024 threads.
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#endif
// A kernel: its name, the threads of a block at most, and the structure of its arguments, which it knows as `p`.
#define PK_KERNEL(name, threads, args) \
  extern "C" __global__ void __launch_bounds__(threads) name(const args p)
// The same for a kernel that needs this many waves a SIMD at least.
#define PK_KERNEL_WAVES(name, threads, waves, args) \
  extern "C" __global__ void __launch_bounds__(threads) __attribute__((amdgpu_waves_per_eu(waves))) name(const args p)
// The same for a kernel of which this many blocks should run at once on a multiprocessor, which is a matter of NVIDIA's registers.
#define PK_KERNEL_BLOCKS(name, threads, blocks, args) PK_KERNEL(name, threads, args)
// Sums are added in the order in which they are written, from here to the end of the block.
#define PK_IN_ORDER _Pragma("clang fp reassociate(off) contract(off)")
#define PKD static __device__ inline __attribute__((always_inline))
#define PK_LDS __attribute__((shared, aligned(16)))
// A table of numbers that come with the code.
#define PK_TABLE static const __attribute__((constant))
#define PK_UNROLL _Pragma("unroll")
// A loop that stays one: what unrolling would keep in registers is not worth it.
#define PK_ROLLED _Pragma("unroll 1")

typedef float pk_f4 __attribute__((ext_vector_type(4)));

PKD int pk_tid() { return (int)__builtin_amdgcn_workitem_id_x(); }
PKD int pk_bx() { return (int)__builtin_amdgcn_workgroup_id_x(); }
PKD int pk_by() { return (int)__builtin_amdgcn_workgroup_id_y(); }
PKD int pk_bz() { return (int)__builtin_amdgcn_workgroup_id_z(); }
PKD void pk_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
// Workgroup memory that lanes of a wave wrote is seen by its other lanes.
PKD void pk_wave_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
// Bytes that numbers below eight choose: four of `low`, then four of `high`.
PKD unsigned pk_bytes(unsigned low, unsigned high, unsigned numbers) { return __builtin_amdgcn_perm(high, low, numbers); }
PKD float pk_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
PKD float pk_log2(float x) { return __builtin_amdgcn_logf(x); }
PKD float pk_rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
PKD float pk_rint(float x) { return __builtin_rintf(x); }
PKD double pk_rint(double x) { return __builtin_rint(x); }
PKD float pk_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// No instruction is moved from one side to the other: what is loaded too early holds registers.
PKD void pk_in_turn() { __builtin_amdgcn_sched_barrier(0); }
// What all lanes have alike, known to be so.
PKD int pk_uniform(int x) { return __builtin_amdgcn_readfirstlane(x); }
PKD float pk_sqrt(float x) { return __builtin_amdgcn_sqrtf(x); }
// The same value, about which the compiler knows nothing: fast-math would reorder or join what is around it.
PKD float pk_opaque(float x) {
  asm volatile("" : "+v"(x));
  return x;
}
// The value, computed here and not later: operands that wait for it hold registers.
PKD float pk_here(float x) { return pk_opaque(x); }
// The same word, of which the compiler does not compute bytes apart: here it does not.
PKD unsigned pk_whole(unsigned x) { return x; }
// A product rounded by itself: no sum takes it in.
PKD float pk_times(float a, float b) { return pk_opaque(a * b); }

// clang-19 does not mark v_permlanex16 convergent at machine level and sinks it into a later
// `if (lane == 0)`, where lane 16 is masked off: the 32-lane sum comes out wrong. An empty volatile
// asm pins its source and its result in the block where they were written. -DPK_NO_PIN brings the
// fault back; the emulator's tests use that to prove that they would see it.
#if defined(PK_NO_PIN)
#define PK_PIN(x)
#else
#define PK_PIN(x) asm volatile("" : "+v"(x))
#endif
// The value of lane ^ M. T is any type of 32 bits.
template <int M, class T> PKD T pk_xor(T x) {
  int v = __builtin_bit_cast(int, x), r;
  if constexpr (M == 16) {
    PK_PIN(v);
    r = __builtin_amdgcn_permlanex16(v, v, 0x76543210, 0xfedcba98, false, false);
    PK_PIN(r);
  } else {
    r = __builtin_amdgcn_update_dpp(v, v, 0x160 | M, 0xf, 0xf, true); // row_xmask:M
  }
  return __builtin_bit_cast(T, r);
}
// The value of any lane, chosen lane by lane.
template <class T> PKD T pk_shuffle(T x, int lane) {
  return __builtin_bit_cast(T, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, x)));
}
PKD unsigned pk_atomic_add(unsigned *p, unsigned x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
// Puts `to` where `from` was; gives what was there.
PKD unsigned pk_atomic_swap_if(unsigned *p, unsigned from, unsigned to) {
  __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return from;
}
PKD int pk_dot4(int a, int b, int c) { return __builtin_amdgcn_sudot4(true, a, true, b, c, false); }
// The same for bytes of `a` without sign.
PKD int pk_dot4_unsigned(unsigned a, int b, int c) { return __builtin_amdgcn_sudot4(false, (int)a, true, b, c, false); }

typedef _Float16 pk_h;
typedef _Float16 pk_h16 __attribute__((ext_vector_type(16)));
typedef pk_h16 pk_h16_row __attribute__((aligned(16))); // LDS rows are 16-byte aligned, not 32
typedef float pk_f8 __attribute__((ext_vector_type(8)));
struct pk_frag { pk_h16 v; };
struct pk_acc { pk_f8 v; };

PKD void pk_zero(pk_acc &c) {
  for (int i = 0; i < 8; i++) c.v[i] = 0;
}
PKD float &pk_el(pk_acc &c, int i) { return ((float *)&c.v)[i]; }
PKD int pk_row(int i) { return 2 * i + ((pk_tid() & 31) >> 4); }
PKD int pk_col(int) { return pk_tid() & 15; }
// A: 16 rows x 16 k, row-major. Lanes 16..31 must repeat lanes 0..15, hence lane & 15.
PKD void pk_lda(pk_frag &f, const pk_h *p, int ld) { f.v = *(const pk_h16_row *)(p + (pk_tid() & 15) * ld); }
// B^T: 16 columns x 16 k, row-major.
PKD void pk_ldb(pk_frag &f, const pk_h *p, int ld) { f.v = *(const pk_h16_row *)(p + (pk_tid() & 15) * ld); }
PKD void pk_mma(pk_acc &c, const pk_frag &a, const pk_frag &b) {
  c.v = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a.v, b.v, c.v);
}
