// Types of few bits: a sixteen a unit, decoded when it is fetched. Two a unit would make texts twice as long.
//#include quads4
//#include few_bits
//#if @_coded
//#include codewords
//#end
//#if @_wide
fn @_locate(block: vec2<u32>, k: u32) -> u32 {
//#if @_repacked
  $@_locate
//#else
  return block.x + k;
//#end
}
fn @_b8(block: vec2<u32>, k: u32) -> u32 {
  let a = @_locate(block, k);
  return (@_load_word(a) >> (8u * (a & 3u))) & 255u;
}
fn @_b16(block: vec2<u32>, k: u32) -> u32 {
  let a = @_locate(block, k);
  return (@_load_word(a) >> (8u * (a & 2u))) & 0xffffu;
}
fn @_b32(block: vec2<u32>, k: u32) -> u32 { return @_load_word(@_locate(block, k)); }
fn @_b128(block: vec2<u32>, k: u32) -> vec4<u32> { return @_load_quad(@_locate(block, k)); }
//#include sixteen @
//#end
//#if @_type=Q2_K
const @_least: bool = true;
//#else
const @_least: bool = false;
//#end
const @_runs: u32 = 1u;
struct @_Words { values: Sixteen }
fn @_fetch(r: Row, u: u32) -> @_Words {
  let units = $@_values / 16u;
//#if @_repacked
  let block = vec2<u32>(r.at, r.first + u / units);
//#else
  let block = vec2<u32>(r.at + u / units * $@_bytes, 0u);
//#end
  return @_Words(@_sixteen(block, u % units));
}
fn @_levels(w: @_Words, u: u32, run: u32) -> vec4<u32> { return w.values.levels; }
fn @_line(w: @_Words, u: u32, run: u32) -> vec2<f32> { return w.values.line; }
fn @_place(u: u32, run: u32) -> u32 { return 4u * u; }
