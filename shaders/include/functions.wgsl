// Functions of one value, guarded where a driver's own would overflow or lose a NaN.
//#include numbers
fn sigmoid(x: f32) -> f32 {
  let y = select(1.0 / (1.0 + exp(-x)), 0.0, x < -88.0);
  return select(y, x, is_nan(x));
}
// 0 silu, 1 sigmoid: the function of a gate.
fn opening(kind: u32, x: f32) -> f32 { return select(sigmoid(x), x * sigmoid(x), kind == 0u); }
fn gate_values(kind: u32, x: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(opening(kind, x.x), opening(kind, x.y), opening(kind, x.z), opening(kind, x.w));
}
fn log1p_small(y: f32) -> f32 {
  // ln(1 + y) without cancellation: the rounding of 1 + y is divided out.
  let u = 1.0 + y;
  return select(log(u) * (y / (u - 1.0)), y, u == 1.0);
}
fn softplus(x: f32) -> f32 {
  return select(log1p_small(exp(min(x, 20.0))), x, x > 20.0 || is_nan(x));
}
fn tanh_clamped(x: f32) -> f32 {
  // The quotient cancels near zero, where a few terms of the series are enough.
  let small = x * (1.0 - x * x * (0.33333334 - x * x * 0.13333334));
  let large = 1.0 - 2.0 / (exp(2.0 * clamp(x, -15.0, 15.0)) + 1.0);
  return select(large, small, abs(x) < 0.1 || is_nan(x));
}
fn unary(kind: u32, x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  switch kind {
    case 0u: { return x * sigmoid(x); }
    case 1u: { return sigmoid(x); }
    case 2u: { return softplus(x); }
    case 3u: { return max(x, 0.0); }
    // (1 + tanh(u)) / 2 is sigmoid(2u), which does not cancel.
    case 4u: { return x * sigmoid(1.5957691216 * x * (1.0 + 0.044715 * x * x)); }
    case 5u: { return exp(x); }
    case 6u: { return tanh_clamped(x); }
    case 7u: { return -x; }
    case 8u: { return abs(x); }
    case 9u: { return sign(x); }
    case 10u: { return sqrt(x); }
    case 11u: { return x * x; }
    default: { return log(x); }
  }
}
