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
