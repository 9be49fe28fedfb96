// Q5_0 and Q5_1: as Q4_0 and Q4_1, with the fifth bits of 32 values in a word.
const LEASTS: bool = true;
const RUNS: u32 = 2u;
const QUADS: u32 = 4u;
struct Words { q: vec4<u32>, h: u32, d: u32 }
fn fetch(r: Row, u: u32) -> Words {
//#if weight_repacked
  let levels = r.at + 16u * (r.first + u);
  let fifths = r.at + plane(16u * r.blocks);
  let steps = fifths + plane(4u * r.blocks);
  let h = w_word(r.which, fifths + 4u * (r.first + u));
//#if weight_type=Q5_0
  return Words(w_quad(r.which, levels), h, w_half(r.which, steps + 2u * (r.first + u)));
//#else
  return Words(w_quad(r.which, levels), h, w_word(r.which, steps + 4u * (r.first + u)));
//#end
//#else
//#if weight_type=Q5_0
  let block = r.at + 22u * u;
  return Words(w_quad(r.which, block + 6u), w_word(r.which, block + 2u), w_half(r.which, block));
//#else
  let block = r.at + 24u * u;
  return Words(w_quad(r.which, block + 8u), w_word(r.which, block + 4u), w_word(r.which, block));
//#end
//#end
}
fn quad(w: Words, u: u32, run: u32, j: u32) -> vec4<f32> {
  let four = (w.q[j] >> (4u * run)) & 0x0f0f0f0fu;
  let bits = (w.h >> (16u * run + 4u * j)) & 15u;
  // Bit n of four becomes bit 4 of byte n.
  let fifth = ((bits & 1u) << 4u) | ((bits & 2u) << 11u) | ((bits & 4u) << 18u) | ((bits & 8u) << 25u);
  return bytes4(four | fifth);
}
fn line(w: Words, u: u32, run: u32) -> vec2<f32> {
  let d = unpack2x16float(w.d);
//#if weight_type=Q5_0
  return vec2<f32>(d.x, 16.0 * d.x);
//#else
  return vec2<f32>(d.x, -d.y);
//#end
}
fn place(u: u32, run: u32) -> u32 { return 8u * u + 4u * run; }
