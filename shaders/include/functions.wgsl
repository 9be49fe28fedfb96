// Functions of one value, guarded where a driver's own would overflow.
fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(-x)); }
// 0 silu, 1 sigmoid: the function of a gate.
fn gate_value(kind: u32, x: f32) -> f32 { return select(sigmoid(x), x * sigmoid(x), kind == 0u); }
fn log1p_small(y: f32) -> f32 {
  // ln(1 + y) without cancellation: the rounding of 1 + y is divided out.
  let u = 1.0 + y;
  return select(log(u) * (y / (u - 1.0)), y, u == 1.0);
}
fn softplus(x: f32) -> f32 { return select(log1p_small(exp(min(x, 20.0))), x, x > 20.0); }
fn tanh_clamped(x: f32) -> f32 {
  let small = x * (1.0 - x * x * (0.33333334 - x * x * 0.13333334));
  return select(tanh(clamp(x, -15.0, 15.0)), small, abs(x) < 0.05);
}
fn unary(kind: u32, x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  switch kind {
    case 0u: { return select(x * sigmoid(x), 0.0, x < -88.0); }
    case 1u: { return sigmoid(x); }
    case 2u: { return softplus(x); }
    case 3u: { return max(x, 0.0); }
    case 4u: { return 0.5 * x * (1.0 + tanh_clamped(0.7978845608 * x * (1.0 + 0.044715 * x * x))); }
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
