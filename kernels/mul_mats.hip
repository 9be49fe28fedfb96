// Up to four weights times the same few columns of f32. The blocks of the first weight stand before those of the second.
#include "args/mul_mats.h"
#include "include/dot_rows_typed.h"

template <int COLUMNS, class Room> PKD void mul_mats(const mul_mats_args &p) {
  PK_LDS Room room;
  const Team team = team_of(p.split);
  const pk_u32 rows = rows_of_block(p.split);
  // Which weight is the same for the whole block; ports that are not bound have no rows.
  pk_u32 block = pk_bx();
  View weight = p.w0, out = p.out0;
  const pk_u32 blocks0 = (p.out0.shape[0] + rows - 1) / rows, blocks1 = (p.out1.shape[0] + rows - 1) / rows;
  const pk_u32 blocks2 = (p.out2.shape[0] + rows - 1) / rows;
  if (block >= blocks0 + blocks1 + blocks2) {
    block -= blocks0 + blocks1 + blocks2;
    weight = p.w3;
    out = p.out3;
  } else if (block >= blocks0 + blocks1) {
    block -= blocks0 + blocks1;
    weight = p.w2;
    out = p.out2;
  } else if (block >= blocks0) {
    block -= blocks0;
    weight = p.w1;
    out = p.out1;
  }
  const pk_u32 first = block * rows + team.row;
  Sums<COLUMNS> sums;
  clear(sums);
  const Rows own = rows_from(weight, first, 0);
  dot_typed<COLUMNS>(weight.type, own, columns_of<COLUMNS>(p.x), p.x.shape[0], team, room, false, sums);
  store_sums<COLUMNS>(out, first, team, team_sum(sums, team, room.sums));
}

#if PK_PART(vec)
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mats_vec_1, TEAM_THREADS, 8, mul_mats_args) { mul_mats<1, ExactRoom<1>>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mats_vec_2, TEAM_THREADS, 8, mul_mats_args) { mul_mats<2, ExactRoom<2>>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mats_vec_4, TEAM_THREADS, 8, mul_mats_args) { mul_mats<4, ExactRoom<4>>(p); }
// VGPRs: at most 168
PK_KERNEL_WAVES(mul_mats_vec_8, TEAM_THREADS, 8, mul_mats_args) { mul_mats<8, ExactRoom<8>>(p); }
#endif

#if PK_PART(q8)
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mats_q8_1, TEAM_THREADS, 8, mul_mats_args) { mul_mats<1, RoundedRoom<1>>(p); }
// VGPRs: at most 96
PK_KERNEL_WAVES(mul_mats_q8_2, TEAM_THREADS, 8, mul_mats_args) { mul_mats<2, RoundedRoom<2>>(p); }
// VGPRs: at most 120
PK_KERNEL_WAVES(mul_mats_q8_4, TEAM_THREADS, 8, mul_mats_args) { mul_mats<4, RoundedRoom<4>>(p); }
// VGPRs: at most 144
PK_KERNEL_WAVES(mul_mats_q8_8, TEAM_THREADS, 6, mul_mats_args) { mul_mats<8, RoundedRoom<8>>(p); }
#endif
