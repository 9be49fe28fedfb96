// Sorts the columns by the expert chosen for them and cuts each expert's into tiles of `tile`: count, add up, deal out, for
// 1024 experts at a time. One workgroup. The order of an expert's columns differs from run to run, which no result depends on.
//#port ids any
//#scratch u32
//#fault
const EXPERTS: u32 = 1024u;
var<workgroup> counts: array<atomic<u32>, EXPERTS>;
var<workgroup> ends: array<vec2<u32>, 256>;
fn chosen(n: u32) -> i32 { return ids_int(vec4<u32>(n % p.ids.shape.x, n / p.ids.shape.x, 0u, 0u)); }
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) t: u32) {
  let all = p.ids.shape.x * p.ids.shape.y;
  for (var n = t; n < all; n += 256u) {
    let id = chosen(n);
    if (id < 0 || u32(id) >= p.experts) { fault($ids_port, id, p.experts); }
  }
  // Columns and tiles of the experts before.
  var done = vec2<u32>(0u);
  for (var base = 0u; base < p.experts; base += EXPERTS) {
    let some = min(EXPERTS, p.experts - base);
    workgroupBarrier();
    for (var e = t; e < EXPERTS; e += 256u) { atomicStore(&counts[e], 0u); }
    workgroupBarrier();
    for (var n = t; n < all; n += 256u) {
      // Wraps below the first of these to a large number; so does what is negative.
      let expert = bitcast<u32>(chosen(n)) - base;
      if (expert < some) { atomicAdd(&counts[expert], 1u); }
    }
    workgroupBarrier();
    // Columns and tiles of four experts a thread, then of all threads up to each.
    var own = vec2<u32>(0u);
    for (var i = 0u; i < 4u; i++) {
      let count = atomicLoad(&counts[4u * t + i]);
      own += vec2<u32>(count, (count + p.tile - 1u) / p.tile);
    }
    ends[t] = own;
    workgroupBarrier();
    for (var step = 1u; step < 256u; step *= 2u) {
      var before = vec2<u32>(0u);
      if (t >= step) { before = ends[t - step]; }
      workgroupBarrier();
      ends[t] += before;
      workgroupBarrier();
    }
    var at = done + ends[t] - own;
    for (var i = 0u; i < 4u; i++) {
      let count = atomicLoad(&counts[4u * t + i]);
      atomicStore(&counts[4u * t + i], at.x);
      for (var n = 0u; n < count; n += p.tile) {
        let tile = 4u + 4u * at.y;
        $scratch[tile] = at.x + n;
        $scratch[tile + 1u] = at.x + count;
        $scratch[tile + 2u] = base + 4u * t + i;
        at.y++;
      }
      at.x += count;
    }
    done += ends[255];
    workgroupBarrier();
    for (var n = t; n < all; n += 256u) {
      let expert = bitcast<u32>(chosen(n)) - base;
      if (expert < some) { $scratch[p.list + atomicAdd(&counts[expert], 1u)] = n; }
    }
  }
  if (t == 0u) { $scratch[0] = done.y; }
}
