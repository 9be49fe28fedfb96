// 8 consecutive values of a row of weights or of x.
struct Quads2 { a: vec4<f32>, b: vec4<f32> }
fn dot_quads2(w: Quads2, x: Quads2) -> f32 {
  // Two chains: half the time that one takes to come back.
  var even = w.a.x * x.a.x;
  even = fma(w.a.y, x.a.y, even);
  even = fma(w.b.x, x.b.x, even);
  even = fma(w.b.y, x.b.y, even);
  var odd = w.a.z * x.a.z;
  odd = fma(w.a.w, x.a.w, odd);
  odd = fma(w.b.z, x.b.z, odd);
  odd = fma(w.b.w, x.b.w, odd);
  return even + odd;
}
fn sum_quads2(x: Quads2) -> f32 {
  let four = x.a + x.b;
  return (four.x + four.y) + (four.z + four.w);
}
fn scaled_quads2(w: Quads2, line: vec2<f32>) -> Quads2 {
  return Quads2(fma(w.a, line.xxxx, -line.yyyy), fma(w.b, line.xxxx, -line.yyyy));
}
