// The same functions on the host: reads n and 3n words, writes the results of each function after its name.
#define TWIN static inline
#include "twins.h"
#include <cstdio>
#include <vector>
int main() {
  u32 n;
  if (fread(&n, 4, 1, stdin) != 1) return 1;
  std::vector<u32> x(3 * n), o(n);
  if (fread(x.data(), 4, 3 * n, stdin) != 3 * n) return 1;
#define WRITE(name, expression) \
  for (u32 t = 0; t < n; t++) { \
    u32 a = x[t], b = x[n + t], c = x[2 * n + t]; \
    (void)b, (void)c; \
    o[t] = expression; \
  } \
  printf("%-24s", #name); \
  fwrite(o.data(), 4, n, stdout);
  ALL(WRITE)
}
