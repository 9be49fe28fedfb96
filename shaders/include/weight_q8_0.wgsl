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
fn @_run(w: @_Words, u: u32, run: u32) -> Quads4 {
  return Quads4(signed_bytes4(w.q.x), signed_bytes4(w.q.y), signed_bytes4(w.q.z), signed_bytes4(w.q.w));
}
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> { return vec2<f32>(unpack2x16float(w.d).x, 0.0); }
fn @_place(u: u32, run: u32) -> u32 { return 4u * u; }
