// Sorts the columns by the expert chosen for them and cuts each expert's into tiles of `tile`: count, add up, deal out. One
// workgroup. The order of an expert's columns differs from run to run, which no result depends on.
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
  for (var e = t; e < EXPERTS; e += 256u) { atomicStore(&counts[e], 0u); }
  workgroupBarrier();
  for (var n = t; n < all; n += 256u) {
    let id = chosen(n);
    if (id < 0 || u32(id) >= p.experts) {
      fault($ids_port, id, p.experts);
    } else {
      atomicAdd(&counts[u32(id)], 1u);
    }
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
  var at = ends[t] - own;
  for (var i = 0u; i < 4u; i++) {
    let expert = 4u * t + i;
    let count = atomicLoad(&counts[expert]);
    atomicStore(&counts[expert], at.x);
    for (var n = 0u; n < count; n += p.tile) {
      let tile = 4u + 4u * at.y;
      $scratch[tile] = at.x + n;
      $scratch[tile + 1u] = at.x + count;
      $scratch[tile + 2u] = expert;
      at.y++;
    }
    at.x += count;
  }
  if (t == 255u) { $scratch[0] = ends[255].y; }
  workgroupBarrier();
  for (var n = t; n < all; n += 256u) {
    let id = chosen(n);
    if (id >= 0 && u32(id) < p.experts) { $scratch[p.list + atomicAdd(&counts[u32(id)], 1u)] = n; }
  }
}
