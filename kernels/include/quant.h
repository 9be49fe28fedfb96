// Elements of plain types and of blocks of evenly spaced levels, bit for bit as the reference has them. Rows may be repacked: the same part of
// all blocks lies together then, each part's plane begins at a multiple of 16 bytes, and the planes follow in the order of
// `before`. Addresses need no alignment.
#pragma once
#include "include/sixteens.h"

PKD Part q4_0_levels() { return {2, 16, 0}; }
PKD Part q4_0_scale() { return {0, 2, 16}; }
PKD Part q4_1_levels() { return {4, 16, 0}; }
PKD Part q4_1_line() { return {0, 4, 16}; }
PKD Part q5_0_levels() { return {6, 16, 0}; }
PKD Part q5_0_fifths() { return {2, 4, 16}; }
PKD Part q5_0_scale() { return {0, 2, 20}; }
PKD Part q5_1_levels() { return {8, 16, 0}; }
PKD Part q5_1_fifths() { return {4, 4, 16}; }
PKD Part q5_1_line() { return {0, 4, 20}; }
PKD Part q8_0_levels() { return {2, 32, 0}; }
PKD Part q8_0_scale() { return {0, 2, 32}; }
PKD Part q6_k_low() { return {0, 128, 0}; }
PKD Part q6_k_high() { return {128, 64, 128}; }
PKD Part q6_k_scales() { return {192, 16, 192}; }
PKD Part q6_k_scale() { return {208, 2, 208}; }

// Values of a block.
PKD constexpr pk_u32 block_values(int type) {
  switch (type) {
  case TYPE_F32:
  case TYPE_F16:
  case TYPE_BF16:
  case TYPE_I32:
  case TYPE_I64: return 1;
  case TYPE_Q4_K:
  case TYPE_Q5_K:
  case TYPE_Q6_K:
  case TYPE_Q2_K:
  case TYPE_Q3_K:
  case TYPE_IQ1_S:
  case TYPE_IQ1_M:
  case TYPE_IQ2_XXS:
  case TYPE_IQ2_XS:
  case TYPE_IQ2_S:
  case TYPE_IQ3_XXS:
  case TYPE_IQ3_S:
  case TYPE_IQ4_XS:
  case TYPE_TQ1_0:
  case TYPE_TQ2_0: return 256;
  case TYPE_Q1_0: return 128;
  case TYPE_NVFP4:
  case TYPE_Q2_0: return 64;
  default: return 32;
  }
}

PKD float half_at(const char *p) { return pk_from_f16(read16(p)); }
PKD pk_u32 byte_at(const char *p) { return *(const pk_u8 *)p; }
// level * scale + least, rounded twice as the reference does.
PKD float on_line(float level, float scale, float least) { return pk_times(level, scale) + least; }
// Nibble j of 32: the low ones of 16 bytes, then the high ones.
PKD int nibble_at(const char *levels, pk_u32 j) { return (int)(byte_at(levels + (j & 15)) >> (j >> 4 << 2) & 15); }

// Six-bit scale and least of a group of Q4_K or Q5_K, from the twelve bytes at `p`.
struct Sixes {
  pk_u32 scale, least;
};
PKD Sixes sixes_at(const char *p, pk_u32 group) {
  if (group < 4) return {byte_at(p + group) & 63, byte_at(p + group + 4) & 63};
  pk_u32 low = byte_at(p + group + 4);
  return {(low & 15) | byte_at(p + group - 4) >> 6 << 4, low >> 4 | byte_at(p + group) >> 6 << 4};
}
// Value j of a block of Q4_K (no fifth bits) or Q5_K.
PKD float k_value(const char *block, pk_u32 j, bool fifths) {
  pk_u32 group = j / 32, l = j % 32;
  const char *nibbles = block + (fifths ? 48 : 16);
  pk_u32 level = byte_at(nibbles + group / 2 * 32 + l) >> (group % 2 * 4) & 15;
  if (fifths) level |= (byte_at(block + 16 + l) >> group & 1) << 4;
  Sixes s = sixes_at(block + 4, group);
  float step = pk_times(half_at(block), (float)s.scale);
  return on_line((float)level, step, -pk_times(half_at(block + 2), (float)s.least));
}
PKD float q6_k_value(const View &v, const char *row, pk_u32 block, pk_u32 j) {
  pk_u32 half = j / 128, l = j % 32, p = j / 32 % 4;
  pk_u32 low = byte_at(part_of(v, row, block, q6_k_low()) + half * 64 + p % 2 * 32 + l) >> (p / 2 * 4) & 15;
  pk_u32 high = byte_at(part_of(v, row, block, q6_k_high()) + half * 32 + l) >> (2 * p) & 3;
  int scale = (signed char)byte_at(part_of(v, row, block, q6_k_scales()) + j / 16);
  float step = pk_times(half_at(part_of(v, row, block, q6_k_scale())), (float)scale);
  return step * (float)((int)(low | high << 4) - 32);
}

// Value j of a block of a quantised type that has its own reader here.
PKD float block_value(const View &v, const char *row, pk_u32 block, pk_u32 j) {
  switch (v.type) {
  case TYPE_Q4_0: {
    int level = nibble_at(part_of(v, row, block, q4_0_levels()), j) - 8;
    return (float)level * half_at(part_of(v, row, block, q4_0_scale()));
  }
  case TYPE_Q4_1: {
    const char *line = part_of(v, row, block, q4_1_line());
    return on_line((float)nibble_at(part_of(v, row, block, q4_1_levels()), j), half_at(line), half_at(line + 2));
  }
  case TYPE_Q5_0: {
    int fifth = (int)(read32(part_of(v, row, block, q5_0_fifths())) >> j & 1) << 4;
    int level = (nibble_at(part_of(v, row, block, q5_0_levels()), j) | fifth) - 16;
    return (float)level * half_at(part_of(v, row, block, q5_0_scale()));
  }
  case TYPE_Q5_1: {
    int fifth = (int)(read32(part_of(v, row, block, q5_1_fifths())) >> j & 1) << 4;
    int level = nibble_at(part_of(v, row, block, q5_1_levels()), j) | fifth;
    const char *line = part_of(v, row, block, q5_1_line());
    return on_line((float)level, half_at(line), half_at(line + 2));
  }
  case TYPE_Q4_K: return k_value(row + block * v.stride[0], j, false);
  case TYPE_Q5_K: return k_value(row + block * v.stride[0], j, true);
  case TYPE_Q6_K: return q6_k_value(v, row, block, j);
  default: {
    int level = (signed char)byte_at(part_of(v, row, block, q8_0_levels()) + j);
    return (float)level * half_at(part_of(v, row, block, q8_0_scale()));
  }
  }
}

// Element i0 of a row of such a type, or a plain number; an i32 as a number.
PKD float pk_element(const View &v, const char *row, pk_u32 i0) {
  pk_u32 values = block_values(v.type);
  if (values > 1) return block_value(v, row, i0 / values, i0 % values);
  const char *p = row + i0 * v.stride[0];
  return v.type == TYPE_I32 ? (float)(int)read32(p) : read_plain(v.type, p);
}
