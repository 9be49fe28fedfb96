// Running softmax: sums are relative to the largest score so far, and shrink when a larger one comes.
//#include numbers
// Below every score; finite, so that differences are numbers.
const LOWEST = -3.4028234e38;
// The larger of two; NaN wins.
fn higher(a: f32, b: f32) -> f32 { return select(a, b, b > a || is_nan(b)); }
// The weight of a score by its distance from the largest; NaN stays NaN, whatever a driver's `exp` does with it.
fn weight(distance: f32) -> f32 { return select(exp(distance), distance, is_nan(distance)); }
// What older sums are worth; bounded, since nothing may have been seen yet.
fn shrunk(before: f32, now: f32) -> f32 { return weight(select(before - now, -100.0, before - now < -100.0)); }
// The same of four rows at once.
fn are_nan(v: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(v) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn higher_each(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return select(a, b, (b > a) | are_nan(b)); }
fn weights_of(distance: vec4<f32>) -> vec4<f32> { return select(exp(distance), distance, are_nan(distance)); }
fn shrunk_each(before: vec4<f32>, now: vec4<f32>) -> vec4<f32> {
  return weights_of(select(before - now, vec4<f32>(-100.0), before - now < vec4<f32>(-100.0)));
}
