// An eighth of a block a unit: 16 values of a group of 32 and the 16 at their place in the group after the next.
//#include quads4
const @_least: bool = true;
const @_runs: u32 = 2u;
struct @_Words { q: vec4<u32>, h: vec4<u32>, scales: vec2<u32>, d: u32 }
fn @_fetch(r: Row, u: u32) -> @_Words {
  let half = (u >> 2u) & 1u;
//#if @_repacked
  let block = r.first + (u >> 3u);
  let levels = r.at + 128u * block;
  let highs = r.at + plane(128u * r.blocks);
  let scales = highs + plane(64u * r.blocks);
  let steps = scales + plane(16u * r.blocks);
  let high = highs + 64u * block;
  let scale = scales + 16u * block;
  let step = steps + 2u * block;
//#else
  let levels = r.at + 210u * (u >> 3u);
  let high = levels + 128u;
  let scale = levels + 192u;
  let step = levels + 208u;
//#end
  let own = scale + 8u * half;
  return @_Words(@_load_quad(levels + 16u * (u & 7u)), @_load_quad(high + 32u * half + 16u * (u & 1u)),
               vec2<u32>(@_load_word(own), @_load_word(own + 4u)), @_load_half(step));
}
fn @_levels(w: @_Words, u: u32, run: u32) -> vec4<u32> {
  let four = (w.q >> vec4<u32>(4u * run)) & vec4<u32>(0x0f0f0f0fu);
  return four | (((w.h >> vec4<u32>((u & 2u) + 4u * run)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u));
}
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> {
  let scale = f32(extractBits(bitcast<i32>(w.scales[run]), 8u * (u & 3u), 8u)) * unpack2x16float(w.d).x;
  return vec2<f32>(scale, 32.0 * scale);
}
fn @_place(u: u32, run: u32) -> u32 {
  return 64u * (u >> 3u) + 32u * ((u >> 2u) & 1u) + 8u * ((u >> 1u) & 1u) + 16u * run + 4u * (u & 1u);
}
