// A kernel for each function of the list: lane by lane, three words in, one out.
#define TWIN static __attribute__((device)) inline
#include "twins.h"
#define KERNEL(name, expression) \
  extern "C" __attribute__((global)) void name(const u32 *x, u32 *o, int n) { \
    int t = __builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x(); \
    u32 a = x[t], b = x[n + t], c = x[2 * n + t]; \
    o[t] = expression; \
  }
ALL(KERNEL)
