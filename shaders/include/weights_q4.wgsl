// Q4_0 and Q4_1: a block a unit, the low halves of 16 bytes and then the high ones.
const LEASTS: bool = true;
const RUNS: u32 = 2u;
const QUADS: u32 = 4u;
struct Words { q: vec4<u32>, d: u32 }
fn fetch(r: Row, u: u32) -> Words {
//#if weight_repacked
  let levels = r.at + 16u * (r.first + u);
  let steps = r.at + plane(16u * r.blocks);
//#if weight_type=Q4_0
  return Words(w_quad(r.which, levels), w_half(r.which, steps + 2u * (r.first + u)));
//#else
  return Words(w_quad(r.which, levels), w_word(r.which, steps + 4u * (r.first + u)));
//#end
//#else
//#if weight_type=Q4_0
  let block = r.at + 18u * u;
  return Words(w_quad(r.which, block + 2u), w_half(r.which, block));
//#else
  let block = r.at + 20u * u;
  return Words(w_quad(r.which, block + 4u), w_word(r.which, block));
//#end
//#end
}
fn quad(w: Words, u: u32, run: u32, j: u32) -> vec4<f32> { return bytes4((w.q[j] >> (4u * run)) & 0x0f0f0f0fu); }
fn line(w: Words, u: u32, run: u32) -> vec2<f32> {
  let d = unpack2x16float(w.d);
//#if weight_type=Q4_0
  return vec2<f32>(d.x, 8.0 * d.x);
//#else
  return vec2<f32>(d.x, -d.y);
//#end
}
fn place(u: u32, run: u32) -> u32 { return 8u * u + 4u * run; }
