// Q4_K and Q5_K: an eighth of a block a unit: 16 values of a group of 32 and the 16 at their place in the next group.
//#include quads4
const @_least: bool = true;
const @_runs: u32 = 2u;
//#if @_type=Q4_K
struct @_Words { q: vec4<u32>, head: vec4<u32> }
//#else
struct @_Words { q: vec4<u32>, head: vec4<u32>, h: vec4<u32> }
//#end
fn @_fetch(r: Row, u: u32) -> @_Words {
//#if @_type=Q4_K
  let block = r.at + 144u * (u >> 3u);
  return @_Words(@_load_quad(block + 16u + 16u * (u & 7u)), @_load_quad(block));
//#else
  let block = r.at + 176u * (u >> 3u);
  let levels = @_load_quad(block + 48u + 16u * (u & 7u));
  return @_Words(levels, @_load_quad(block), @_load_quad(block + 16u + 16u * (u & 1u)));
//#end
}
fn @_levels(w: @_Words, u: u32, run: u32) -> vec4<u32> {
  let four = (w.q >> vec4<u32>(4u * run)) & vec4<u32>(0x0f0f0f0fu);
//#if @_type=Q4_K
  return four;
//#else
  return four | (((w.h >> vec4<u32>((u & 6u) + run)) & vec4<u32>(0x01010101u)) << vec4<u32>(4u));
//#end
}
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> {
  // Groups 0 to 3 have six bits in a byte each, groups 4 to 7 four bits here and two above those of the first four.
  let shift = 8u * ((u & 2u) + run);
  let late = (u & 4u) != 0u;
  let a = w.head.y >> shift;
  let b = w.head.z >> shift;
  let c = w.head.w >> shift;
  let scale = select(a & 63u, (c & 15u) | ((a >> 2u) & 48u), late);
  let least = select(b & 63u, ((c >> 4u) & 15u) | ((b >> 2u) & 48u), late);
  return unpack2x16float(w.head.x) * vec2<f32>(f32(scale), f32(least));
}
fn @_place(u: u32, run: u32) -> u32 {
  return 64u * (u >> 3u) + 8u * ((u & 6u) + run) + 4u * (u & 1u);
}
