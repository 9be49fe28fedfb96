// Products for every type and layout: a wave an element of the result.
#pragma once
#include "include/any_element.h"

// The number of the wave's element. The host counts 32 threads an element.
PKD pk_u64 element_number(int groups_x) { return thread_number(256, groups_x) / 32; }
// Sum of the products of two rows of `count` values.
PKD float dot_any(const View &weight, const char *row, const View &x, const char *column, pk_u32 count) {
  float sum = 0;
  PK_ROLLED for (pk_u32 k = pk_lane(); k < count; k += 32)
    sum = pk_fma(any_element(weight, row, k), read_plain(x.type, column + k * x.stride[0]), sum);
  return pk_wsum(sum);
}
