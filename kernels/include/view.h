// How a kernel reaches a tensor: a view of its bytes, written by the host from the layout at a contract's port.
#pragma once
#include "include/pk.h"
#include "args/types.h"

struct View {
  // The first element; null where an optional port is unbound.
  char *data;
  // Extents, innermost first.
  pk_u32 shape[4];
  // Strides in bytes, innermost first. Of a quantised type the innermost is that of one block.
  pk_i64 stride[4];
  // Element type, one of TYPE_*.
  int type;
  // Where rows are repacked (each part of all blocks of a row behind each other, see quant.h): blocks of a whole row, and
  // the first block that belongs to this view. 0 and 0 where blocks lie as in the file.
  pk_u32 blocks, first, unused;
};

// What every kernel gets beside its ports.
struct Common {
  // Four words: dispatch + 1, port, index, limit. The first fault of a run wins.
  pk_u32 *fault;
  // Memory that the launches of one dispatch share.
  char *scratch;
  pk_u32 dispatch, unused;
};

PKD bool is_bound(const View &v) { return v.data != nullptr; }
PKD pk_u64 elements(const View &v) { return (pk_u64)v.shape[0] * v.shape[1] * v.shape[2] * v.shape[3]; }

// The first byte of a row.
PKD char *row_of(const View &v, pk_u32 i1, pk_u32 i2, pk_u32 i3) {
  return v.data + i1 * v.stride[1] + i2 * v.stride[2] + i3 * v.stride[3];
}

// Numbers at any address: layouts need not be aligned, and not every device reads across words.
PKD pk_u16 read16(const char *p) {
  if (((pk_u64)p & 1) == 0) return *(const pk_u16 *)p;
  const pk_u8 *b = (const pk_u8 *)p;
  return (pk_u16)(b[0] | b[1] << 8);
}
PKD pk_u32 read32(const char *p) {
  if (((pk_u64)p & 3) == 0) return *(const pk_u32 *)p;
  const pk_u8 *b = (const pk_u8 *)p;
  return b[0] | (pk_u32)b[1] << 8 | (pk_u32)b[2] << 16 | (pk_u32)b[3] << 24;
}
PKD void write16(char *p, pk_u16 x) {
  if (((pk_u64)p & 1) == 0) {
    *(pk_u16 *)p = x;
    return;
  }
  for (int i = 0; i < 2; i++) p[i] = (char)(x >> (8 * i));
}
PKD void write32(char *p, pk_u32 x) {
  if (((pk_u64)p & 3) == 0) {
    *(pk_u32 *)p = x;
    return;
  }
  for (int i = 0; i < 4; i++) p[i] = (char)(x >> (8 * i));
}

// The halves of a word.
PKD float low_half(pk_u32 w) { return pk_from_f16((pk_u16)w); }
PKD float high_half(pk_u32 w) { return pk_from_f16((pk_u16)(w >> 16)); }

// A plain number (not a quantised block) as f32.
PKD float read_plain(int type, const char *p) {
  switch (type) {
  case TYPE_F16: return pk_from_f16(read16(p));
  case TYPE_BF16: return pk_from_bf16(read16(p));
  default: return pk_float(read32(p));
  }
}
PKD void write_plain(int type, char *p, float x) {
  switch (type) {
  case TYPE_F16: write16(p, pk_to_f16(x)); break;
  case TYPE_BF16: write16(p, pk_to_bf16(x)); break;
  default: write32(p, pk_bits(x));
  }
}
PKD float load(const View &v, pk_u32 i0, pk_u32 i1, pk_u32 i2, pk_u32 i3) {
  return read_plain(v.type, row_of(v, i1, i2, i3) + i0 * v.stride[0]);
}
PKD void store(const View &v, pk_u32 i0, pk_u32 i1, pk_u32 i2, pk_u32 i3, float x) {
  write_plain(v.type, row_of(v, i1, i2, i3) + i0 * v.stride[0], x);
}
// An index, i32 or i64.
PKD pk_i64 load_index(const View &v, pk_u32 i0, pk_u32 i1, pk_u32 i2, pk_u32 i3) {
  const char *p = row_of(v, i1, i2, i3) + i0 * v.stride[0];
  if (v.type == TYPE_I64) return (pk_i64)(read32(p) | (pk_u64)read32(p + 4) << 32);
  return (int)read32(p);
}

// Coordinates of element number `at` of rows of `width`, innermost first.
struct Place {
  pk_u32 i[4];
};
PKD Place place_in(pk_u64 at, pk_u32 width, const View &v) {
  Place c;
  // Divisions of 64 bits cost many times those of 32.
  if (at >> 32 == 0) {
    pk_u32 rest = (pk_u32)at;
    c.i[0] = rest % width;
    rest /= width;
    c.i[1] = rest % v.shape[1];
    rest /= v.shape[1];
    c.i[2] = rest % v.shape[2];
    c.i[3] = rest / v.shape[2];
    return c;
  }
  c.i[0] = (pk_u32)(at % width);
  at /= width;
  c.i[1] = (pk_u32)(at % v.shape[1]);
  at /= v.shape[1];
  c.i[2] = (pk_u32)(at % v.shape[2]);
  c.i[3] = (pk_u32)(at / v.shape[2]);
  return c;
}
PKD Place place_of(pk_u64 at, const View &v) { return place_in(at, v.shape[0], v); }

// Number of this thread in the launch, for kernels of one thread an element. Large launches use both dimensions.
PKD pk_u64 thread_number(int threads, int groups_x) {
  return ((pk_u64)pk_by() * groups_x + pk_bx()) * threads + pk_tid();
}

// Reports an index that only run time can refuse. The kernel goes on with what is safe.
PKD void report(const Common &c, int port, pk_i64 got, pk_u64 limit) {
  if (pk_atomic_swap_if(c.fault, 0, c.dispatch + 1) != 0) return;
  c.fault[1] = (pk_u32)port;
  c.fault[2] = (pk_u32)got;
  c.fault[3] = (pk_u32)limit;
}
