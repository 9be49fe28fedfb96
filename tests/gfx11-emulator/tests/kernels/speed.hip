// Loops of one kind of instruction each, for the bench. Grid: any, block 256. n: rounds.
#include "include/pk.h"
#define KERNEL extern "C" __global__ void __launch_bounds__(256)
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
PKD int at() { return pk_bx() * 256 + pk_tid(); }

KERNEL arithmetic(const float *x, float *o, int n) {
  float a = x[at()], b = a + 1, c = a - 1, d = a * 2;
  for (int i = 0; i < n; i++) {
    PK_UNROLL for (int k = 0; k < 4; k++) {
      a = a * b + c;
      b = b * 0.5f + d;
      c = pk_max(c, a) - b;
      d = a + c * d;
    }
  }
  o[at()] = a + b + c + d;
}
KERNEL halves(const float *x, float *o, int n) {
  h2 a = {(pk_h)x[at()], (pk_h)x[at() + 1]}, b = a * a, c = a + b;
  for (int i = 0; i < n; i++) {
    PK_UNROLL for (int k = 0; k < 8; k++) {
      a = a * b + c;
      c = c * (pk_h)0.5f;
    }
  }
  o[at()] = (float)a.x + (float)a.y + (float)c.x;
}
KERNEL integers(const float *x, float *o, int n) {
  pk_u32 a = pk_bits(x[at()]), b = a * 3, c = a ^ b;
  for (int i = 0; i < n; i++) {
    PK_UNROLL for (int k = 0; k < 8; k++) {
      a = (a << 5) + b;
      b = (b >> 3) ^ (c & a);
      c = c * a + (b | 7);
    }
  }
  o[at()] = pk_float(a ^ b ^ c);
}
KERNEL transcendent(const float *x, float *o, int n) {
  float a = x[at()], s = 0;
  for (int i = 0; i < n; i++) s += pk_sigmoid(a + s) + pk_rsqrt(s + 1);
  o[at()] = s;
}
KERNEL reduce(const float *x, float *o, int n) {
  float a = x[at()];
  for (int i = 0; i < n; i++) a = pk_wsum(a) * 0.03f;
  o[at()] = a;
}
KERNEL stream(const float *x, float *o, int n) {
  for (int i = 0; i < n / 4; i++) {
    pk_f4 v = *(const pk_f4 *)(x + ((at() + i * 256) & 0xffff) * 4);
    *(pk_f4 *)(o + at() * 4) = v * 2.0f;
  }
}
KERNEL gather(const float *x, float *o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[(at() * 33 + i) & 0x3ffff];
  o[at()] = s;
}
KERNEL through_lds(const float *x, float *o, int n) {
  PK_LDS float s[2][256];
  float a = x[at()];
  for (int i = 0; i < n; i++) {
    s[i & 1][pk_tid()] = a;
    pk_sync();
    a += s[i & 1][(pk_tid() * 5 + i) & 255];
  }
  o[at()] = a;
}
KERNEL matrices(const float *x, float *o, int n) {
  PK_LDS pk_h s[512];
  for (int i = pk_tid(); i < 512; i += 256) s[i] = (pk_h)x[i];
  pk_sync();
  pk_frag a, b;
  pk_acc c;
  pk_zero(c);
  for (int i = 0; i < n; i++) {
    pk_lda(a, s + (i & 7) * 8, 24);
    pk_ldb(b, s + (i & 3) * 8, 24);
    pk_mma(c, a, b);
  }
  PK_UNROLL for (int i = 0; i < 8; i++) o[at() * 8 + i] = pk_el(c, i);
}
