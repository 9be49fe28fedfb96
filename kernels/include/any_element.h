// Elements of every type that weft decodes, bit for bit as the reference has them.
#pragma once
#include "include/codewords.h"
#include "include/quant.h"

// Value j of a block.
template <int TYPE> PKD float value_of_sixteen(const AnyBlock &b, pk_u32 j) {
  const Sixteen s = Sixteens<TYPE>::of(b, j / 16);
  const Four &four = s.levels;
  const pk_u32 word = j & 8 ? (j & 4 ? four.w[3] : four.w[2]) : (j & 4 ? four.w[1] : four.w[0]), level = word >> (j % 4 * 8) & 255;
  if (Sixteens<TYPE>::SIGNED) return (float)(signed char)level * s.steps.step;
  return on_line((float)level, s.steps.step, -s.steps.least);
}

// Value j of a block of a type of few bits.
PKD float few_bits_value(int type, const AnyBlock &b, pk_u32 j) {
  switch (type) {
  case TYPE_Q2_K: return value_of_sixteen<TYPE_Q2_K>(b, j);
  case TYPE_Q3_K: return value_of_sixteen<TYPE_Q3_K>(b, j);
  case TYPE_IQ1_S: return value_of_sixteen<TYPE_IQ1_S>(b, j);
  case TYPE_IQ1_M: return value_of_sixteen<TYPE_IQ1_M>(b, j);
  case TYPE_IQ2_XXS: return value_of_sixteen<TYPE_IQ2_XXS>(b, j);
  case TYPE_IQ2_XS: return value_of_sixteen<TYPE_IQ2_XS>(b, j);
  case TYPE_IQ2_S: return value_of_sixteen<TYPE_IQ2_S>(b, j);
  case TYPE_IQ3_XXS: return value_of_sixteen<TYPE_IQ3_XXS>(b, j);
  case TYPE_IQ3_S: return value_of_sixteen<TYPE_IQ3_S>(b, j);
  case TYPE_IQ4_NL: return value_of_sixteen<TYPE_IQ4_NL>(b, j);
  case TYPE_IQ4_XS: return value_of_sixteen<TYPE_IQ4_XS>(b, j);
  case TYPE_TQ1_0: return value_of_sixteen<TYPE_TQ1_0>(b, j);
  case TYPE_TQ2_0: return value_of_sixteen<TYPE_TQ2_0>(b, j);
  case TYPE_MXFP4: return value_of_sixteen<TYPE_MXFP4>(b, j);
  case TYPE_NVFP4: return value_of_sixteen<TYPE_NVFP4>(b, j);
  case TYPE_Q1_0: return value_of_sixteen<TYPE_Q1_0>(b, j);
  default: return value_of_sixteen<TYPE_Q2_0>(b, j);
  }
}
PKD bool is_few_bits(int type) { return (type >= TYPE_IQ1_S && type <= TYPE_Q2_0) || type == TYPE_Q2_K || type == TYPE_Q3_K; }

// Element i0 of a row of any type; an i32 as a number.
PKD float any_element(const View &v, const char *row, pk_u32 i0) {
  if (!is_few_bits(v.type)) return pk_element(v, row, i0);
  const pk_u32 values = block_values(v.type);
  return few_bits_value(v.type, {v.stride[0], v.blocks, v.first, row, i0 / values}, i0 % values);
}
