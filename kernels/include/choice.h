// The column of a slot and token, and the matrix chosen for it: what a block of few-column kernels computes. All columns are
// in one launch. `Args` have `ids`, `x`, `out` and `split`.
#pragma once
#include "include/teams.h"

struct Choice {
  pk_u32 slot, token;
  // The first row of the team.
  pk_u32 first;
  pk_i64 expert;
};
template <class Args> PKD Choice choice_of(const Args &p, const Team &team) {
  const pk_u32 slots = p.ids.shape[0], slot = pk_by() % slots, token = pk_by() / slots;
  return {slot, token, pk_bx() * rows_of_block(p.split) + team.row, load_index(p.ids, slot, token, 0, 0)};
}
// Whether there is such a matrix; one thread reports it if not. `port` is that of the indices.
PKD bool is_there(const Common &common, const Choice &c, const View &weight, int port) {
  const bool is = c.expert >= 0 && c.expert < weight.shape[2];
  if (!is && pk_bx() == 0 && pk_tid() == 0) report(common, port, c.expert, weight.shape[2]);
  return is;
}
PKD Rows chosen_rows(const View &weight, const Choice &c) {
  return rows_from(weight, c.first, (pk_u32)pk_uniform((int)c.expert));
}
PKD Columns<1> chosen_column(const View &x, const Choice &c) {
  return {{row_of(x, c.slot % x.shape[1], c.token, 0)}};
}
PKD void store_chosen(const View &out, const Choice &c, const Team &team, float sum) {
  const Own own = own_sum<1>(team);
  const pk_u32 row = c.first + own.row;
  if (own.is && row < out.shape[0]) ((float *)row_of(out, c.slot, c.token, 0))[row] = sum;
}
