// Half a block a unit: 16 signed bytes.
const LEASTS: bool = false;
const RUNS: u32 = 1u;
const QUADS: u32 = 4u;
struct Words { q: vec4<u32>, d: u32 }
fn fetch(r: Row, u: u32) -> Words {
//#if weight_repacked
  let levels = r.at + 32u * r.first + 16u * u;
  let step = r.at + plane(32u * r.blocks) + 2u * (r.first + u / 2u);
  return Words(w_quad(r.which, levels), w_half(r.which, step));
//#else
  let block = r.at + 34u * (u / 2u);
  return Words(w_quad(r.which, block + 2u + 16u * (u % 2u)), w_half(r.which, block));
//#end
}
fn quad(w: Words, u: u32, run: u32, j: u32) -> vec4<f32> {
  let word = bitcast<i32>(w.q[j]);
  return vec4<f32>(vec4<i32>(extractBits(word, 0u, 8u), extractBits(word, 8u, 8u), extractBits(word, 16u, 8u), word >> 24u));
}
fn line(w: Words, u: u32, run: u32) -> vec2<f32> { return vec2<f32>(unpack2x16float(w.d).x, 0.0); }
fn place(u: u32, run: u32) -> u32 { return 4u * u; }
