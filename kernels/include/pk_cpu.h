// The CPU: every GPU thread a fiber.
#pragma once
#define __global__
#define __device__
#define __launch_bounds__(...)
// A kernel: its name, the threads of a block at most, and the structure of its arguments, which it knows as `p`.
// What runs it asks for two numbers beside it.
#define PK_KERNEL(name, threads, args)                                     \
  extern "C" {                                                             \
  unsigned name##_bytes = sizeof(args), name##_threads = threads;          \
  }                                                                        \
  extern "C" void name(const args &p)
#define PK_KERNEL_WAVES(name, threads, waves, args) PK_KERNEL(name, threads, args)
#define PK_KERNEL_BLOCKS(name, threads, blocks, args) PK_KERNEL(name, threads, args)
#define PK_IN_ORDER
#define PKD static inline
#define PK_LDS static thread_local __attribute__((aligned(16)))
// A table of numbers that come with the code.
#define PK_TABLE static const
#define PK_UNROLL
#define PK_ROLLED

struct alignas(16) pk_f4 {
  float v[4];
  float &operator[](int i) { return v[i]; }
  const float &operator[](int i) const { return v[i]; }
};

// What one lane hands to the others, double-buffered so that a fast lane cannot overwrite it.
struct pk_exchange {
  unsigned slot[2][32];
  pk_f4 fragment[2][32][4];
};
extern "C" {
unsigned pk_exchange_bytes = sizeof(pk_exchange);
}
// A GPU thread. It lies at the end of its fiber's stack, so that finding it costs no thread-local variable: those are
// workgroup memory alone.
struct alignas(64) pk_thread {
  int tid, bx, by, bz, parity, unused;
  pk_exchange *wave;
  void *scheduler[2];
};
enum { PK_STACK = 1 << 18, PK_AT_WAVE_OP = 1, PK_AT_BARRIER = 2 };
PKD pk_thread &pk_me() {
  return ((pk_thread *)(((unsigned long)__builtin_frame_address(0) | (PK_STACK - 1)) + 1))[-1];
}
// Lets other threads run. The library that runs fibers sets it; `line` tells it whether lanes stop at the same place.
extern "C" {
void (*pk_stop)(pk_thread *, int kind, int line);
}
PKD void pk_yield(int kind, int line) { pk_stop(&pk_me(), kind, line); }

PKD int pk_tid() { return pk_me().tid; }
PKD int pk_bx() { return pk_me().bx; }
PKD int pk_by() { return pk_me().by; }
PKD int pk_bz() { return pk_me().bz; }
PKD void pk_sync(int line = __builtin_LINE()) { pk_yield(PK_AT_BARRIER, line); }
PKD void pk_wave_sync(int line = __builtin_LINE()) { pk_yield(PK_AT_WAVE_OP, line); }
// Bytes that numbers below eight choose: four of `low`, then four of `high`.
PKD unsigned pk_bytes(unsigned low, unsigned high, unsigned numbers) {
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned n = numbers >> (8 * i) & 7;
    r |= ((n < 4 ? low : high) >> (n % 4 * 8) & 255) << (8 * i);
  }
  return r;
}
PKD float pk_exp2(float x) { return __builtin_exp2f(x); }
PKD float pk_log2(float x) { return __builtin_log2f(x); }
PKD float pk_rsqrt(float x) { return 1.f / __builtin_sqrtf(x); }
PKD float pk_rint(float x) { return __builtin_rintf(x); }
PKD double pk_rint(double x) { return __builtin_rint(x); }
PKD float pk_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PKD void pk_in_turn() {}
PKD int pk_uniform(int x) { return x; }
PKD float pk_sqrt(float x) { return __builtin_sqrtf(x); }
// The same value, about which the compiler knows nothing: fast-math would reorder or join what is around it.
PKD float pk_opaque(float x) {
  asm volatile("" : "+m"(x));
  return x;
}
// The value, computed here and not later: operands that wait for it hold registers.
PKD float pk_here(float x) { return x; }
// The same word, of which the compiler does not compute bytes apart.
PKD unsigned pk_whole(unsigned x) { return x; }
// A product rounded by itself: no sum takes it in.
PKD float pk_times(float a, float b) { return pk_opaque(a * b); }
PKD int pk_flip() {
  int p = pk_me().parity;
  pk_me().parity ^= 1;
  return p;
}
template <class T> PKD T pk_shuffle(T x, int from, int line = __builtin_LINE()) {
  static_assert(sizeof(T) == 4, "lanes exchange 32 bits");
  pk_exchange *w = pk_me().wave;
  int lane = pk_me().tid & 31, p = pk_flip();
  __builtin_memcpy(&w->slot[p][lane], &x, 4);
  pk_yield(PK_AT_WAVE_OP, line);
  T r;
  __builtin_memcpy(&r, &w->slot[p][from & 31], 4);
  return r;
}
template <int M, class T> PKD T pk_xor(T x, int line = __builtin_LINE()) {
  return pk_shuffle(x, (pk_tid() & 31) ^ M, line);
}
PKD unsigned pk_atomic_add(unsigned *p, unsigned x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); }
PKD unsigned pk_atomic_swap_if(unsigned *p, unsigned from, unsigned to) {
  __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return from;
}
PKD int pk_dot4(int a, int b, int c) {
  for (int i = 0; i < 4; i++) c += (int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i));
  return c;
}
// The same for bytes of `a` without sign.
PKD int pk_dot4_unsigned(unsigned a, int b, int c) {
  for (int i = 0; i < 4; i++) c += (int)(a >> (8 * i) & 255u) * (int)(signed char)(b >> (8 * i));
  return c;
}

typedef _Float16 pk_h;
struct pk_frag { pk_h v[16]; };
struct pk_acc { float v[8]; };

PKD void pk_zero(pk_acc &c) {
  for (int i = 0; i < 8; i++) c.v[i] = 0;
}
PKD float &pk_el(pk_acc &c, int i) { return c.v[i]; }
PKD int pk_row(int i) { return 2 * i + ((pk_tid() & 31) >> 4); } // the gfx11 layout
PKD int pk_col(int) { return pk_tid() & 15; }
PKD void pk_lda(pk_frag &f, const pk_h *p, int ld) { __builtin_memcpy(f.v, p + (pk_tid() & 15) * ld, 32); }
PKD void pk_ldb(pk_frag &f, const pk_h *p, int ld) { __builtin_memcpy(f.v, p + (pk_tid() & 15) * ld, 32); }
PKD void pk_mma(pk_acc &c, const pk_frag &a, const pk_frag &b, int line = __builtin_LINE()) {
  pk_exchange *w = pk_me().wave;
  int lane = pk_me().tid & 31, p = pk_flip();
  __builtin_memcpy(&w->fragment[p][lane][0], a.v, 32);
  __builtin_memcpy(&w->fragment[p][lane][2], b.v, 32);
  pk_yield(PK_AT_WAVE_OP, line);
  pk_h row[16], col[16];
  __builtin_memcpy(col, &w->fragment[p][lane & 15][2], 32);
  for (int i = 0; i < 8; i++) {
    __builtin_memcpy(row, &w->fragment[p][2 * i + (lane >> 4)][0], 32);
    float s = c.v[i];
    for (int k = 0; k < 16; k++) s += (float)row[k] * (float)col[k];
    c.v[i] = s;
  }
}
