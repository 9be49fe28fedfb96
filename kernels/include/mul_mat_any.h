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
// The same of a row of each of two weights, by one piece of code.
struct GateUp {
  float gate, up;
};
template <class Row>
PKD GateUp dots_any(const View &gate, const View &up, Row row, const View &x, const char *column, pk_u32 count) {
  GateUp sums = {0, 0};
  PK_ROLLED for (int turn = 0; turn < 2; turn++) {
    const View &weight = turn == 0 ? gate : up;
    const float sum = dot_any(weight, row(weight), x, column, count);
    (turn == 0 ? sums.gate : sums.up) = sum;
  }
  return sums;
}
