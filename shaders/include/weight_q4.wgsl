// Q4_0 and Q4_1: a block a unit, the low halves of 16 bytes and then the high ones.
//#include quads4
const @_least: bool = true;
const @_runs: u32 = 2u;
struct @_Words { q: vec4<u32>, d: u32 }
fn @_fetch(r: Row, u: u32) -> @_Words {
//#if @_repacked
  let levels = r.at + 16u * (r.first + u);
  let steps = r.at + plane(16u * r.blocks);
//#if @_type=Q4_0
  return @_Words(@_load_quad(levels), @_load_half(steps + 2u * (r.first + u)));
//#else
  return @_Words(@_load_quad(levels), @_load_word(steps + 4u * (r.first + u)));
//#end
//#else
//#if @_type=Q4_0
  let block = r.at + 18u * u;
  return @_Words(@_load_quad(block + 2u), @_load_half(block));
//#else
  let block = r.at + 20u * u;
  return @_Words(@_load_quad(block + 4u), @_load_word(block));
//#end
//#end
}
fn @_levels(w: @_Words, u: u32, run: u32) -> vec4<u32> {
  return (w.q >> vec4<u32>(4u * run)) & vec4<u32>(0x0f0f0f0fu);
}
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> {
  let d = unpack2x16float(w.d);
//#if @_type=Q4_0
  return vec2<f32>(d.x, 8.0 * d.x);
//#else
  return vec2<f32>(d.x, -d.y);
//#end
}
fn @_place(u: u32, run: u32) -> u32 { return 8u * u + 4u * run; }
