// Indices of the k largest values of each row, largest first, ties to the lower index.
#include "args/top_k.h"
#include "include/order.h"
#include "include/quads.h"
#include "include/select.h"

// A number that no two elements of a row share: the value, then the complement of the index.
PKD pk_u64 rank_at(const top_k_args &p, const char *row, pk_u32 index) {
  return (pk_u64)order_key(pk_float(read32(row + index * p.x.stride[0]))) << 32 | (pk_u32)~index;
}

// The k largest of a row in no order, a block a row. Scratch memory takes k indices for each row.
PK_KERNEL(top_k_any, 256, top_k_args) {
  PK_LDS pk_u32 room[SELECT_ROOM];
  PK_LDS pk_u32 taken;
  const char *row = row_at(p.x, place_of_row(pk_bx(), p.x));
  const pk_u32 width = p.x.shape[0];
  if (pk_tid() == 0) taken = 0;
  pk_u64 least = least_of_largest<256>(width, p.k, room, [&](pk_u32 j) { return rank_at(p, row, j); });
  pk_u32 *list = (pk_u32 *)p.common.scratch + (pk_u64)pk_bx() * p.k;
  for (pk_u32 j = pk_tid(); j < width; j += 256)
    if (rank_at(p, row, j) >= least) list[pk_atomic_add(&taken, 1)] = j;
}
// Each of those counts the larger ones.
PK_KERNEL(top_k_order, 256, top_k_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place row = place_of_row((pk_u32)(n / p.k), p.x);
  const char *x = row_at(p.x, row);
  const pk_u32 *list = (const pk_u32 *)p.common.scratch + n / p.k * p.k;
  pk_u32 own = list[n % p.k], place = 0;
  const pk_u64 rank = rank_at(p, x, own);
  for (pk_u32 j = 0; j < p.k; j++) place += rank_at(p, x, list[j]) > rank;
  write32(row_at(p.out, row) + place * p.out.stride[0], own);
}

// Rows of at most 1024 values, a block a row and a thread a value: each counts those before it.
// VGPRs: at most 32
PK_KERNEL(top_k_few, 1024, top_k_args) {
  PK_LDS pk_u32 keys[1024];
  const pk_u32 own = pk_tid(), width = p.x.shape[0];
  Place row = place_of_row(pk_bx(), p.x);
  // Places behind the row hold less than any value.
  const pk_u32 key = own < width ? order_key(load(p.x, own, row.i[1], row.i[2], row.i[3])) : 0;
  keys[own] = key;
  pk_sync();
  pk_u32 place = 0;
  for (pk_u32 j = 0; j < width; j += 4) {
    PK_UNROLL for (pk_u32 i = 0; i < 4; i++) {
      pk_u32 other = keys[j + i];
      place += other > key || (other == key && j + i < own);
    }
  }
  if (own < width && place < p.k) write32(row_at(p.out, row) + place * p.out.stride[0], own);
}
