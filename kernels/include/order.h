// An order of floats as an order of integers: NaN as minus infinity, negative zero before zero.
#pragma once
#include "include/pk.h"

PKD pk_u32 order_key(float x) {
  pk_u32 bits = pk_is_nan(x) ? 0xff800000u : pk_bits(x);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
