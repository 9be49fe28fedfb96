// 16 consecutive values of a row of weights or of x.
struct Quads4 { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32> }
fn dot_quads4(w: Quads4, x: Quads4) -> f32 {
  // Two chains: half the time that one takes to come back.
  var even = w.a.x * x.a.x;
  even = fma(w.a.y, x.a.y, even);
  even = fma(w.b.x, x.b.x, even);
  even = fma(w.b.y, x.b.y, even);
  even = fma(w.c.x, x.c.x, even);
  even = fma(w.c.y, x.c.y, even);
  even = fma(w.d.x, x.d.x, even);
  even = fma(w.d.y, x.d.y, even);
  var odd = w.a.z * x.a.z;
  odd = fma(w.a.w, x.a.w, odd);
  odd = fma(w.b.z, x.b.z, odd);
  odd = fma(w.b.w, x.b.w, odd);
  odd = fma(w.c.z, x.c.z, odd);
  odd = fma(w.c.w, x.c.w, odd);
  odd = fma(w.d.z, x.d.z, odd);
  odd = fma(w.d.w, x.d.w, odd);
  return even + odd;
}
fn sum_quads4(x: Quads4) -> f32 {
  let four = x.a + x.b + x.c + x.d;
  return (four.x + four.y) + (four.z + four.w);
}
fn scaled_quads4(w: Quads4, line: vec2<f32>) -> Quads4 {
  return Quads4(fma(w.a, line.xxxx, -line.yyyy), fma(w.b, line.xxxx, -line.yyyy), fma(w.c, line.xxxx, -line.yyyy), fma(w.d, line.xxxx, -line.yyyy));
}
