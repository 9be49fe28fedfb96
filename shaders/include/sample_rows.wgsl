const PIECE: u32 = 1024u;
const NONE: u32 = 0xffffffffu;
fn pieces() -> u32 { return (p.logits.shape.x + PIECE - 1u) / PIECE; }
fn base(row: u32) -> u32 { return row * (4u + 5u * pieces()); }
fn word(row: u32, w: u32) -> u32 { return bitcast<u32>(params_int(vec4<u32>(w, row, 0u, 0u))); }
fn width(row: u32) -> u32 {
  let limit = word(row, 5u);
  return select(min(limit, p.logits.shape.x), p.logits.shape.x, limit == 0u);
}
fn candidates(row: u32) -> u32 { return min(word(row, 1u), 64u); }
// A temperature below the smallest normal number, by its bits: some drivers flush the others to zero.
fn is_greedy(row: u32) -> bool {
  let bits = word(row, 0u);
  return bits > 0x7f800000u || bits < 0x00800000u;
}
// Order of logits as order of integers; 0 for what is not finite.
fn key(v: f32) -> u32 {
  let bits = bitcast<u32>(v);
  if ((bits & 0x7f800000u) == 0x7f800000u) { return 0u; }
  let magnitude = bits & 0x7fffffffu;
  return select(0x80000000u + magnitude, 0x80000000u - magnitude, (bits >> 31u) == 1u);
}
// The better of two (key or score order, index): the larger, of equal ones the lower index.
var<workgroup> best_keys: array<u32, 256>;
var<workgroup> best_indices: array<u32, 256>;
fn group_best(key: u32, index: u32, lane: u32) -> vec2<u32> {
  workgroupBarrier();
  best_keys[lane] = key;
  best_indices[lane] = index;
  workgroupBarrier();
  for (var step = 128u; step > 0u; step >>= 1u) {
    if (lane < step) {
      let other = best_keys[lane + step];
      let at = best_indices[lane + step];
      if (other > best_keys[lane] || (other == best_keys[lane] && at < best_indices[lane])) {
        best_keys[lane] = other;
        best_indices[lane] = at;
      }
    }
    workgroupBarrier();
  }
  return vec2<u32>(best_keys[0], best_indices[0]);
}
// Undoes `key`.
fn value_of(key: u32) -> f32 {
  let bits = select((0x80000000u - key) | 0x80000000u, key - 0x80000000u, key >= 0x80000000u);
  return bitcast<f32>(bits);
}
