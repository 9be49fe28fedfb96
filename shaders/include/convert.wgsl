// Between integers and floats, rounded once and saturating: what Rust's `as` gives.
fn float_of(v: i32) -> f32 {
  // Both parts are exact, so only their sum is rounded, to nearest.
  return f32(v >> 12u) * 4096.0 + f32(v & 0xfff);
}
fn int_of(v: f32) -> i32 {
  if (is_nan(v)) { return 0; }
  if (v >= 2147483648.0) { return 2147483647; }
  if (v < -2147483648.0) { return -2147483647 - 1; }
  return i32(v);
}
