// Conversions by integer arithmetic: exact on every driver, denormal halves included.
fn half_value(h: u32) -> f32 {
  let sign = (h & 0x8000u) << 16u;
  let exponent = (h >> 10u) & 31u;
  let fraction = h & 0x3ffu;
  if (exponent == 0u) { return bitcast<f32>(bitcast<u32>(f32(fraction) * 5.9604644775390625e-8) | sign); }
  if (exponent == 31u) { return bitcast<f32>(sign | 0x7f800000u | (fraction << 13u)); }
  return bitcast<f32>(sign | ((exponent + 112u) << 23u) | (fraction << 13u));
}
// To nearest, ties to even; beyond the largest half infinity; NaN stays NaN.
fn half_bits(v: f32) -> u32 {
  let bits = bitcast<u32>(v);
  let sign = (bits >> 16u) & 0x8000u;
  let a = bits & 0x7fffffffu;
  if (a > 0x7f800000u) { return sign | 0x7e00u | ((a >> 13u) & 0x3ffu); }
  if (a >= 0x47800000u) { return sign | 0x7c00u; }
  if (a < 0x33000000u) { return sign; }
  if (a < 0x38800000u) {
    let shift = 126u - (a >> 23u);
    let whole = (a & 0x7fffffu) | 0x800000u;
    let kept = whole >> shift;
    let rest = whole & ((1u << shift) - 1u);
    let middle = 1u << (shift - 1u);
    let up = rest > middle || (rest == middle && (kept & 1u) == 1u);
    return sign | (kept + select(0u, 1u, up));
  }
  return sign | ((a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u);
}
fn bfloat_bits(v: f32) -> u32 {
  let bits = bitcast<u32>(v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { return (bits >> 16u) | 0x40u; }
  return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}
fn is_nan(v: f32) -> bool { return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u; }
fn is_infinite(v: f32) -> bool { return (bitcast<u32>(v) & 0x7fffffffu) == 0x7f800000u; }
fn is_minus_infinity(v: f32) -> bool { return bitcast<u32>(v) == 0xff800000u; }
fn signed_byte(b: u32) -> f32 { return f32(i32(b << 24u) >> 24u); }
// To nearest, ties away from zero, as Rust's `round`.
fn round_away(v: f32) -> f32 { return trunc(v + select(0.49999997, -0.49999997, v < 0.0)); }
// v / 127, rounded as the processor rounds: a device's own division may be off by some units. For v not negative.
fn over_127(v: f32) -> f32 {
  let bits = bitcast<u32>(v);
  let exponent = bits >> 23u;
  // Infinities and NaN as they are; numbers this small are no halves.
  if (exponent == 255u) { return v; }
  if (exponent < 32u) { return 0.0; }
  let whole = ((bits & 0x7fffffu) | 0x800000u) << 8u;
  var q = whole / 127u;
  let rest = whole - q * 127u;
  // One or two bits more than a float holds.
  let drop = select(1u, 2u, q >= 0x2000000u);
  let low = q & ((1u << drop) - 1u);
  let middle = 1u << (drop - 1u);
  q >>= drop;
  let up = low > middle || (low == middle && (rest > 0u || (q & 1u) == 1u));
  // value = q * 2^(exponent - 150 - 8 + drop)
  return f32(q + select(0u, 1u, up)) * bitcast<f32>((exponent + drop - 31u) << 23u);
}
// 1 / d for a half's bits without sign, rounded as the processor rounds; 0 for 0.
fn half_inverse(h: u32) -> f32 {
  if (h == 0u) { return 0.0; }
  var exponent = i32(h >> 10u);
  var d = h & 0x3ffu;
  if (exponent == 0) {
    exponent = 1;
    for (var i = 0u; i < 10u; i++) {
      if (d < 1024u) {
        d <<= 1u;
        exponent--;
      }
    }
  } else {
    d |= 1024u;
  }
  // 2^34 / d, from 2^31 and the rest.
  let first = 0x80000000u / d;
  let rest = (0x80000000u - first * d) * 8u;
  let q = first * 8u + rest / d;
  let left = (rest % d) * 2u;
  let up = left > d || (left == d && (q & 1u) == 1u);
  // value = q * 2^(-9 - exponent)
  return f32(q + select(0u, 1u, up)) * bitcast<f32>(u32(118 - exponent) << 23u);
}
