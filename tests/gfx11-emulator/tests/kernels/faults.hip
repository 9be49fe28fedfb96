// Kernels that do something wrong, and the same done right.
#include "include/pk.h"
#define KERNEL extern "C" __global__ void
PKD void barrier() { __builtin_amdgcn_s_barrier(); }

KERNEL copy(const int *x, int *o, int n) {
  int i = pk_bx() * 32 + pk_tid();
  if (i < n) o[i] = x[i];
}
KERNEL add_one(const int *x, int *o, int n) {
  int i = pk_bx() * 32 + pk_tid();
  if (i < n) o[i] = x[i] + 1;
}
KERNEL gather(const int *index, const int *x, int *o) { o[pk_tid()] = x[index[pk_tid()]]; }
// Only a branch looks at what was loaded.
KERNEL decide(const int *x, int *o) {
  if (x[0] == 7) o[pk_tid()] = 1;
  else o[pk_tid() + 32] = 2;
}
// Lanes from n on are loaded too, but not used.
KERNEL masked_use(const int *x, int *o, int n) {
  int t = pk_tid(), v = x[t];
  o[t] = t < n ? v + 5 : 0;
}
// Wave 1 leaves before the barrier that wave 0 waits at.
KERNEL __launch_bounds__(64) early_exit(float *o) {
  PK_LDS float s[64];
  int t = pk_tid();
  if (t >= 32) return;
  s[t] = t;
  pk_sync();
  o[t] = s[31 - t];
}
KERNEL __launch_bounds__(64) masked_barrier(int *o, int n) {
  if (pk_tid() < n) {
    barrier();
    o[pk_tid()] = 1;
  }
}
// Each wave reads what the other wrote; `with` is the barrier between.
KERNEL __launch_bounds__(64) swap_waves(const int *x, int *o, int with) {
  PK_LDS int s[64];
  int t = pk_tid();
  s[t] = x[t];
  if (with) pk_sync();
  o[t] = s[63 - t];
}
// Both waves write one word, and neighbouring bytes.
KERNEL __launch_bounds__(64) same_word(int *o) {
  PK_LDS int s[64];
  s[pk_tid() & 31] = pk_tid();
  pk_sync();
  o[pk_tid()] = s[pk_tid() & 31];
}
KERNEL __launch_bounds__(64) neighbour_bytes(const pk_u8 *x, int *o) {
  PK_LDS pk_u8 s[64];
  int t = pk_tid();
  s[(t & 31) * 2 + (t >> 5)] = x[t];
  pk_sync();
  o[t] = s[t];
}
KERNEL lds_from(const int *x, int *o, int at) {
  PK_LDS int s[64];
  s[pk_tid()] = x[pk_tid()];
  pk_sync();
  o[pk_tid()] = s[pk_tid() + at] + 1;
}
KERNEL lds_counter(int *o) {
  PK_LDS unsigned count;
  if (pk_tid() == 0) count = 0;
  pk_sync();
  __atomic_fetch_add(&count, 1u, __ATOMIC_RELAXED);
  pk_sync();
  o[pk_tid()] = count;
}
// Workgroups write and read one another's place.
KERNEL neighbours(const int *x, int *o, int shift) {
  int i = pk_bx() * 32 + pk_tid();
  o[i] = x[i];
  o[i + shift] = 1;
}
KERNEL read_neighbour(int *o) {
  int i = pk_bx() * 32 + pk_tid();
  int v = pk_bx() == 0 ? 3 : o[i - 32];
  o[i] = v;
}
KERNEL sum_atomically(const int *x, int *o) { __atomic_fetch_add(o, x[pk_bx() * 32 + pk_tid()], __ATOMIC_RELAXED); }
// The last workgroup to arrive adds what all have written.
KERNEL last_adds(const int *x, int *partial, unsigned *arrived, int *o, int groups) {
  PK_LDS unsigned place;
  int t = pk_tid();
  partial[pk_bx() * 32 + t] = x[pk_bx() * 32 + t];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  if (t == 0) place = __atomic_fetch_add(arrived, 1u, __ATOMIC_RELAXED);
  pk_sync();
  if (place != (unsigned)groups - 1) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  int s = 0;
  for (int g = 0; g < groups; g++) s += partial[g * 32 + t];
  o[t] = s;
}
KERNEL add_float(const float *x, float *o, int *old, unsigned *swapped) {
  __builtin_amdgcn_global_atomic_fadd_f32(o, x[pk_tid()]);
  old[pk_tid()] = __atomic_fetch_max(old + 32, pk_tid(), __ATOMIC_RELAXED);
  swapped[pk_tid() + 1] = pk_atomic_swap_if(swapped, (unsigned)pk_tid(), (unsigned)pk_tid() + 1);
}
KERNEL misaligned_atomic(char *o) { __atomic_fetch_add((unsigned *)(o + 2), 1u, __ATOMIC_RELAXED); }
// Scratch: an array that is indexed at run time, and a table of constants.
__device__ const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
KERNEL tables(const int *x, int *o, int n) {
  int t = pk_tid();
  int mine[16];
  for (int i = 0; i < 16; i++) mine[i] = x[i] * (i + 1);
  for (int i = 0; i < n; i++) mine[(i + t) & 15] += i;
  o[t] = mine[x[t] & 15] + table[t & 7];
}
KERNEL endless(int *o) {
  while (__atomic_load_n(o, __ATOMIC_RELAXED) == 0) {
  }
}
