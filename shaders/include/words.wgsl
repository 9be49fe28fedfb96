// Bytes at any address, from words.
fn @_word(w: u32) -> u32 { return @LOAD@; }
// Without branches: decoders load many times. Where one word has all that is wanted, it is read twice.
fn @_load32(a: u32) -> u32 {
  let shift = (a & 3u) * 8u;
  let low = @_word(a >> 2u);
  let next = @_word((a + 3u) >> 2u);
  return select((low >> shift) | (next << ((32u - shift) & 31u)), low, shift == 0u);
}
fn @_load16(a: u32) -> u32 {
  let shift = (a & 3u) * 8u;
  let low = @_word(a >> 2u) >> shift;
  let next = @_word((a + 1u) >> 2u) << 8u;
  return select(low, low | next, shift == 24u) & 0xffffu;
}
// Sixteen bytes at any address.
fn @_load128(a: u32) -> vec4<u32> {
  let w = a >> 2u;
  let shift = (a & 3u) * 8u;
  let all = vec4<u32>(@_word(w), @_word(w + 1u), @_word(w + 2u), @_word(w + 3u));
  let next = vec4<u32>(all.yzw, @_word((a + 15u) >> 2u));
  return select((all >> vec4<u32>(shift)) | (next << vec4<u32>((32u - shift) & 31u)), all, shift == 0u);
}
fn @_load8(a: u32) -> u32 { return (@_word(a >> 2u) >> ((a & 3u) * 8u)) & 0xffu; }
fn @_row(i: vec4<u32>) -> u32 {
  return p.@.offset + i.y * p.@.stride.y + i.z * p.@.stride.z + i.w * p.@.stride.w;
}
