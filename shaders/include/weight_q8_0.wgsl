// Half a block a unit: 16 signed bytes.
//#include quads4
const @_least: bool = false;
const @_runs: u32 = 1u;
struct @_Words { q: vec4<u32>, d: u32 }
fn @_fetch(r: Row, u: u32) -> @_Words {
//#if @_repacked
  let levels = r.at + 32u * r.first + 16u * u;
  let step = r.at + plane(32u * r.blocks) + 2u * (r.first + u / 2u);
  return @_Words(@_load_quad(levels), @_load_half(step));
//#else
  let block = r.at + 34u * (u / 2u);
  return @_Words(@_load_quad(block + 2u + 16u * (u % 2u)), @_load_half(block));
//#end
}
fn @_levels(w: @_Words, u: u32, run: u32) -> vec4<u32> { return w.q; }
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> { return vec2<f32>(unpack2x16float(w.d).x, 0.0); }
fn @_place(u: u32, run: u32) -> u32 { return 4u * u; }
