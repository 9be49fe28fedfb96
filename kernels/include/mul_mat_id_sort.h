// Sorts the columns by the expert chosen for them and cuts each expert's into tiles of `tile`: count, add up, deal out, for
// 1024 experts at a time. One block. The order of an expert's columns differs from run to run, which no result depends on.
#pragma once
#include "args/mul_mat_id.h"
#include "include/view.h"

const pk_u32 SORT_EXPERTS = 1024;
// Columns, and the tiles that they make.
struct Counted {
  pk_u32 columns, tiles;
};
struct SortRoom {
  pk_u32 counts[SORT_EXPERTS];
  Counted ends[256];
};

PKD pk_i64 chosen_expert(const mul_mat_id_args &p, pk_u32 n) {
  return load_index(p.ids, n % p.ids.shape[0], n / p.ids.shape[0], 0, 0);
}
// The expert counted from `base` on; one outside these experts wraps to a large number.
PKD pk_u32 expert_from(const mul_mat_id_args &p, pk_u32 n, pk_u32 base) { return (pk_u32)chosen_expert(p, n) - base; }

// Columns and tiles up to those of this thread's four experts.
PKD Counted counted_up(const pk_u32 *counts, pk_u32 tile, Counted *ends) {
  const pk_u32 t = pk_tid();
  Counted own = {0, 0};
  PK_UNROLL for (int i = 0; i < 4; i++) {
    own.columns += counts[4 * t + i];
    own.tiles += (counts[4 * t + i] + tile - 1) / tile;
  }
  ends[t] = own;
  pk_sync();
  for (pk_u32 step = 1; step < 256; step *= 2) {
    Counted before = {0, 0};
    if (t >= step) before = ends[t - step];
    pk_sync();
    ends[t].columns += before.columns;
    ends[t].tiles += before.tiles;
    pk_sync();
  }
  return {ends[t].columns - own.columns, ends[t].tiles - own.tiles};
}

PKD void mul_mat_id_sort(const mul_mat_id_args &p, pk_u32 *words, SortRoom &room) {
  const pk_u32 t = pk_tid(), all = p.ids.shape[0] * p.ids.shape[1], experts = p.weight.shape[2];
  for (pk_u32 n = t; n < all; n += 256) {
    const pk_i64 expert = chosen_expert(p, n);
    if (expert < 0 || expert >= experts) report(p.common, 2, expert, experts);
  }
  Counted done = {0, 0};
  PK_ROLLED for (pk_u32 base = 0; base < experts; base += SORT_EXPERTS) {
    const pk_u32 some = experts - base < SORT_EXPERTS ? experts - base : SORT_EXPERTS;
    pk_sync();
    for (pk_u32 e = t; e < SORT_EXPERTS; e += 256) room.counts[e] = 0;
    pk_sync();
    for (pk_u32 n = t; n < all; n += 256) {
      const pk_u32 expert = expert_from(p, n, base);
      if (expert < some) pk_atomic_add(&room.counts[expert], 1);
    }
    pk_sync();
    Counted at = counted_up(room.counts, p.tile, room.ends);
    at.columns += done.columns;
    at.tiles += done.tiles;
    PK_ROLLED for (pk_u32 i = 0; i < 4; i++) {
      const pk_u32 count = room.counts[4 * t + i];
      room.counts[4 * t + i] = at.columns;
      for (pk_u32 n = 0; n < count; n += p.tile) {
        pk_u32 *tile = words + 4 + 4 * at.tiles++;
        tile[0] = at.columns + n;
        tile[1] = at.columns + count;
        tile[2] = base + 4 * t + i;
      }
      at.columns += count;
    }
    done.columns += room.ends[255].columns;
    done.tiles += room.ends[255].tiles;
    pk_sync();
    for (pk_u32 n = t; n < all; n += 256) {
      const pk_u32 expert = expert_from(p, n, base);
      if (expert < some) words[p.list + pk_atomic_add(&room.counts[expert], 1)] = n;
    }
  }
  if (t == 0) words[0] = done.tiles;
}
