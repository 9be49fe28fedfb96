// The largest of many numbers, found by a block without ordering them: digit by digit, from the highest.
#pragma once
#include "include/pk.h"

// Words of workgroup memory.
const int SELECT_ROOM = 256 + 3;

// The least of the `wanted` largest of `length` numbers, of which no two are equal; `wanted` is from 1 to `length`. `rank(j)`
// gives number j. Numbers that are not less are exactly those wanted.
template <int THREADS, class Rank> PKD pk_u64 least_of_largest(pk_u32 length, pk_u32 wanted, pk_u32 *room, Rank rank) {
  static_assert(THREADS >= 256, "a thread for each value of a digit");
  const pk_u32 tid = pk_tid();
  pk_u64 found = 0, known = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    if (tid < 256) room[tid] = 0;
    pk_sync();
    for (pk_u32 j = tid; j < length; j += THREADS) {
      pk_u64 own = rank(j);
      if ((own & known) == found) pk_atomic_add(&room[own >> shift & 255], 1);
    }
    pk_sync();
    if (tid < 32) {
      // Lane l looks at digits from 8·l on; `above` counts those in higher lanes.
      pk_u32 own = 0;
      PK_UNROLL for (int d = 0; d < 8; d++) own += room[8 * tid + d];
      pk_u32 above = own;
      PK_UNROLL for (int step = 1; step < 32; step *= 2) {
        pk_u32 other = pk_shuffle(above, (int)tid + step);
        if (tid + step < 32) above += other;
      }
      above -= own;
      PK_UNROLL for (int d = 7; d >= 0; d--) {
        pk_u32 here = room[8 * tid + d];
        // The digit in which the last one wanted lies, how many are wanted of it, and how many have it.
        if (above < wanted && above + here >= wanted) {
          room[256] = 8 * tid + d;
          room[257] = wanted - above;
          room[258] = here;
        }
        above += here;
      }
    }
    pk_sync();
    found |= (pk_u64)room[256] << shift;
    known |= (pk_u64)255 << shift;
    wanted = room[257];
    // All with this digit are wanted: the others need not be known.
    bool all = wanted == room[258];
    pk_sync();
    if (all) break;
  }
  return found;
}
