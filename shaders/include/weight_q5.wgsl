// Q5_0 and Q5_1: as Q4_0 and Q4_1, with the fifth bits of 32 values in a word.
//#include quads4
const @_least: bool = true;
const @_runs: u32 = 2u;
struct @_Words { q: vec4<u32>, h: u32, d: u32 }
fn @_fetch(r: Row, u: u32) -> @_Words {
//#if @_repacked
  let levels = r.at + 16u * (r.first + u);
  let fifths = r.at + plane(16u * r.blocks);
  let steps = fifths + plane(4u * r.blocks);
  let h = @_load_word(fifths + 4u * (r.first + u));
//#if @_type=Q5_0
  return @_Words(@_load_quad(levels), h, @_load_half(steps + 2u * (r.first + u)));
//#else
  return @_Words(@_load_quad(levels), h, @_load_word(steps + 4u * (r.first + u)));
//#end
//#else
//#if @_type=Q5_0
  let block = r.at + 22u * u;
  return @_Words(@_load_quad(block + 6u), @_load_word(block + 2u), @_load_half(block));
//#else
  let block = r.at + 24u * u;
  return @_Words(@_load_quad(block + 8u), @_load_word(block + 4u), @_load_word(block));
//#end
//#end
}
fn @_levels(w: @_Words, u: u32, run: u32) -> vec4<u32> {
  let four = (w.q >> vec4<u32>(4u * run)) & vec4<u32>(0x0f0f0f0fu);
  let bits = (vec4<u32>(w.h) >> (vec4<u32>(0u, 4u, 8u, 12u) + vec4<u32>(16u * run))) & vec4<u32>(15u);
  // Bit n of four becomes bit 4 of byte n.
  let low = ((bits & vec4<u32>(1u)) << vec4<u32>(4u)) | ((bits & vec4<u32>(2u)) << vec4<u32>(11u));
  return four | low | ((bits & vec4<u32>(4u)) << vec4<u32>(18u)) | ((bits & vec4<u32>(8u)) << vec4<u32>(25u));
}
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> {
  let d = unpack2x16float(w.d);
//#if @_type=Q5_0
  return vec2<f32>(d.x, 16.0 * d.x);
//#else
  return vec2<f32>(d.x, -d.y);
//#end
}
fn @_place(u: u32, run: u32) -> u32 { return 8u * u + 4u * run; }
