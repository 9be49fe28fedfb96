// Heads of a gated delta net: which of the keys they read, and what their keys are scaled by.
#pragma once
#include "include/functions.h"
#include "include/segments.h"

// The key head of a value head: tiled (0) or grouped.
PKD pk_u32 key_head(pk_u32 map, pk_u32 head, pk_u32 heads, pk_u32 key_heads) {
  return map == 0 ? head % key_heads : head / (heads / key_heads);
}
// The factor that brings a row of this square length to length one. Form 0: 1 / max(length, eps); 1: with eps under the root.
PKD float unit_factor(float square, float eps, pk_u32 form) {
  if (form != 0) return pk_rsqrt(square + eps);
  float factor = pk_rsqrt(square), most = 1.0f / eps;
  return most < factor ? most : factor;
}
// The plane of a slot's states that a segment starts from.
PKD pk_u32 first_plane(const Segment &s, pk_u32 snapshots) {
  return s.slot * snapshots + (s.plane < snapshots ? s.plane : snapshots - 1);
}
