// A gate's function times another value.
#include "args/swiglu.h"
#include "include/elements.h"
#include "include/functions.h"
#include "include/quads.h"

// Any type and layout, a thread an element.
PK_KERNEL(swiglu_any, 256, swiglu_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out)) return;
  Place i = place_of(n, p.out);
  store_at(p.out, i, opening(p.kind, load_at(p.gate, i)) * load_at(p.up, i));
}

// Rows in groups of four floats, a thread a group.
// VGPRs: at most 32
PK_KERNEL(swiglu_rows, 256, swiglu_args) {
  pk_u64 n = thread_number(256, p.groups_x);
  if (n >= elements(p.out) / 4) return;
  Place i = place_of_quad(n, p.out);
  pk_f4 gate = quad(row_at(p.gate, i), i.i[0]), up = quad(row_at(p.up, i), i.i[0]);
  pk_u32 kind = p.kind;
  put_quad(row_at(p.out, i), i.i[0], each(gate, up, [kind](float g, float u) { return opening(kind, g) * u; }));
}
