const enable_f16 = true;
// Halves end at 65504; infinities and NaN stay what they are.
fn halves(v: vec4<f32>) -> vec4<f16> {
  return vec4<f16>(select(v, clamp(v, vec4<f32>(-65504.0), vec4<f32>(65504.0)), abs(v) < vec4<f32>(3.4e38)));
}
