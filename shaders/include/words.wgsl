// Bytes at any address, from words.
fn @_word(w: u32) -> u32 { return @LOAD@; }
fn @_load32(a: u32) -> u32 {
  let shift = (a & 3u) * 8u;
  let low = @_word(a >> 2u);
  if (shift == 0u) { return low; }
  return (low >> shift) | (@_word((a >> 2u) + 1u) << (32u - shift));
}
fn @_load16(a: u32) -> u32 {
  let shift = (a & 3u) * 8u;
  let low = @_word(a >> 2u) >> shift;
  if (shift <= 16u) { return low & 0xffffu; }
  return (low | (@_word((a >> 2u) + 1u) << 8u)) & 0xffffu;
}
fn @_load8(a: u32) -> u32 { return (@_word(a >> 2u) >> ((a & 3u) * 8u)) & 0xffu; }
fn @_row(i: vec4<u32>) -> u32 {
  return p.@.offset + i.y * p.@.stride.y + i.z * p.@.stride.z + i.w * p.@.stride.w;
}
