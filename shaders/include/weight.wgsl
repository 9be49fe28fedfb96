// The weight `@` unit by unit, for products that need every value of a row once. A unit is what 16 bytes of levels hold: one or
// two runs of 4, 8 or 16 consecutive values. A value is scale * level - least, both of its run.
//   @_row_of(row, z, w)   a row
//   @_fetch(row, u)       what of it makes unit u, as loaded
//   @_run(words, u, run)  the levels of a run
//   @_levels(words, u, run)  the same as 16 bytes, of types that have runs of 16; signed bytes
//   @_line(words, u, run) its scale (x) and least (y)
//   @_place(u, run)       where it lies in a row of x, in vectors of four
//   @_runs, @_least       runs of a unit; whether `least` is ever not zero
// With the flag `@_wide` every part of a row is loaded 16 bytes at a time; else addresses have no alignment.
//#include weight_row
//#if @_wide
//#port @ vec4<u32>
fn @_load_quad(a: u32) -> vec4<u32> { return $@[a >> 4u]; }
fn @_load_word(a: u32) -> u32 { return $@[a >> 4u][(a >> 2u) & 3u]; }
fn @_load_half(a: u32) -> u32 { return @_load_word(a) >> (8u * (a & 2u)); }
//#else
//#port @ any
fn @_load_quad(a: u32) -> vec4<u32> {
  return vec4<u32>(@_load32(a), @_load32(a + 4u), @_load32(a + 8u), @_load32(a + 12u));
}
fn @_load_word(a: u32) -> u32 { return @_load32(a); }
fn @_load_half(a: u32) -> u32 { return @_load16(a); }
//#end
fn @_row_of(row: u32, z: u32, w: u32) -> Row {
  let at = p.@.offset + row * p.@.stride.y + z * p.@.stride.z + w * p.@.stride.w;
  return Row(at, p.@.block, p.@.blocks);
}
//#if @_few_bits
//#include weight_few_bits @
//#end
//#if @_type=F32
//#include weight_f32 @
//#end
//#if @_type=F16
//#include weight_f16 @
//#end
//#if @_type=BF16
//#include weight_bf16 @
//#end
//#if @_type=Q8_0
//#include weight_q8_0 @
//#end
//#if @_type=Q4_0
//#include weight_q4 @
//#end
//#if @_type=Q4_1
//#include weight_q4 @
//#end
//#if @_type=Q5_0
//#include weight_q5 @
//#end
//#if @_type=Q5_1
//#include weight_q5 @
//#end
//#if @_type=Q4_K
//#include weight_q4_k @
//#end
//#if @_type=Q5_K
//#include weight_q4_k @
//#end
//#if @_type=Q6_K
//#include weight_q6_k @
//#end
//#if @_quads=4
fn @_run(w: @_Words, u: u32, run: u32) -> Quads4 {
  let v = @_levels(w, u, run);
//#if @_signed
  return Quads4(signed_bytes4(v.x), signed_bytes4(v.y), signed_bytes4(v.z), signed_bytes4(v.w));
//#else
  return Quads4(bytes4(v.x), bytes4(v.y), bytes4(v.z), bytes4(v.w));
//#end
}
//#end
