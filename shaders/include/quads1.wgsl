// 4 consecutive values of a row of weights or of x.
struct Quads1 { a: vec4<f32> }
fn dot_quads1(w: Quads1, x: Quads1) -> f32 {
  // Two chains: half the time that one takes to come back.
  var even = w.a.x * x.a.x;
  even = fma(w.a.y, x.a.y, even);
  var odd = w.a.z * x.a.z;
  odd = fma(w.a.w, x.a.w, odd);
  return even + odd;
}
fn sum_quads1(x: Quads1) -> f32 {
  let four = x.a;
  return (four.x + four.y) + (four.z + four.w);
}
fn scaled_quads1(w: Quads1, line: vec2<f32>) -> Quads1 {
  return Quads1(fma(w.a, line.xxxx, -line.yyyy));
}
