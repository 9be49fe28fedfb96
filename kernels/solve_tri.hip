// Forward substitution, a thread a column. Errors of early rows grow with every later one: rows are kept and summed with
// twice the precision. Scratch memory holds them, element i of all columns behind each other.
#include "args/solve_tri.h"
#include "include/elements.h"

PK_KERNEL(solve_tri_any, 256, solve_tri_args) {
  const pk_u64 n = thread_number(256, p.groups_x);
  const pk_u32 width = p.out.shape[0];
  const pk_u64 columns = (pk_u64)width * p.out.shape[2] * p.out.shape[3];
  if (n >= columns) return;
  const pk_u32 column = (pk_u32)(n % width), plane = (pk_u32)(n / width);
  const pk_u32 i2 = plane % p.out.shape[2], i3 = plane / p.out.shape[2];
  double *solved = (double *)p.common.scratch + n;
  for (pk_u32 i = 0; i < p.out.shape[1]; i++) {
    double rest = (double)load(p.b, column, i, i2, i3);
    for (pk_u32 j = 0; j < i; j++) rest -= (double)load(p.a, j, i, i2, i3) * solved[j * columns];
    double x = rest / (double)load(p.a, i, i, i2, i3);
    solved[i * columns] = x;
    store(p.out, column, i, i2, i3, (float)x);
  }
}
