// Eight values a unit.
const LEASTS: bool = false;
const RUNS: u32 = 1u;
const QUADS: u32 = 2u;
struct Words { q: vec4<u32> }
fn fetch(r: Row, u: u32) -> Words { return Words(w_quad(r.which, r.at + 16u * u)); }
fn quad(w: Words, u: u32, run: u32, j: u32) -> vec4<f32> {
  let a = w.q[2u * j];
  let b = w.q[2u * j + 1u];
  return bitcast<vec4<f32>>(vec4<u32>(a << 16u, a & 0xffff0000u, b << 16u, b & 0xffff0000u));
}
fn line(w: Words, u: u32, run: u32) -> vec2<f32> { return vec2<f32>(1.0, 0.0); }
fn place(u: u32, run: u32) -> u32 { return 2u * u; }
