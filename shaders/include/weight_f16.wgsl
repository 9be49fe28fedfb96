// Eight values a unit.
//#include quads2
const @_least: bool = false;
const @_runs: u32 = 1u;
struct @_Words { q: vec4<u32> }
fn @_fetch(r: Row, u: u32) -> @_Words { return @_Words(@_load_quad(r.at + 16u * u)); }
fn @_run(w: @_Words, u: u32, run: u32) -> Quads2 {
  return Quads2(vec4<f32>(unpack2x16float(w.q.x), unpack2x16float(w.q.y)), vec4<f32>(unpack2x16float(w.q.z), unpack2x16float(w.q.w)));
}
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> { return vec2<f32>(1.0, 0.0); }
fn @_place(u: u32, run: u32) -> u32 { return 2u * u; }
