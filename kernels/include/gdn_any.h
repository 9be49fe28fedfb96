// The delta rule of one value channel of a head, token by token, for any layout. A thread owns a row of the state, which lies
// in scratch memory while it changes.
#pragma once
#include "include/gdn_heads.h"
#include "include/segments.h"

// A value channel. `seq` is the sequence, 0 where there are segments.
struct Channel {
  pk_u32 j, head, seq;
};

// An f32 of a row, by its first byte and the distance of elements.
struct Line {
  char *at;
  pk_i64 step;
  __device__ float get(pk_u32 i) const { return pk_float(read32(at + i * step)); }
  __device__ void put(pk_u32 i, float x) const { write32(at + i * step, pk_bits(x)); }
};
PKD Line line_of(const View &v, pk_u32 i1, pk_u32 i2, pk_u32 i3) { return {row_of(v, i1, i2, i3), v.stride[0]}; }
PKD float number(const View &v, pk_u32 i0, pk_u32 i1, pk_u32 i2, pk_u32 i3) {
  return pk_float(read32(row_of(v, i1, i2, i3) + i0 * v.stride[0]));
}

// One pass reads the state: sums of the decayed row with k and q, and their own products, give delta and the output.
// `net` says where operands and results lie: dim, k, q, v, beta, gate (the log decay: one, or one a key channel), unit,
// emit, and the line that a plane is kept in.
template <class Net>
PKD void recur(const Net &net, const Channel &c, float *s, pk_u32 first, pk_u32 count, pk_u32 snapshots) {
  pk_u32 dim = net.dim();
  float scale = pk_rsqrt((float)dim);
  PK_ROLLED for (pk_u32 n = 0; n < count; n++) {
    pk_u32 t = first + n;
    Line k = net.k(c, t), q = net.q(c, t);
    float held = 0, asked = 0, kk = 0, qq = 0, kq = 0;
    PK_ROLLED for (pk_u32 i = 0; i < dim; i++) {
      float x = s[i] * net.decay(c, t, i), key = k.get(i), query = q.get(i);
      held += x * key;
      asked += x * query;
      kk += key * key;
      qq += query * query;
      kq += key * query;
    }
    float k_unit = net.unit(kk), q_unit = net.unit(qq);
    float delta = (net.v(c, t) - held * k_unit) * net.beta(c, t) * k_unit;
    PK_ROLLED for (pk_u32 i = 0; i < dim; i++) s[i] = s[i] * net.decay(c, t, i) + delta * k.get(i);
    net.emit(c, t, (asked + delta * kq) * q_unit * scale);
    pk_u32 plane = count - 1 - n;
    if (plane < snapshots)
      for (pk_u32 i = 0; i < dim; i++) net.keep(c, plane, i, s[i]);
  }
}
