// Parts of words: other invocations may write the other parts at the same time, so only the own bits are touched.
fn @_bits(w: u32, mask: u32, v: u32) {
  atomicAnd(&@BUFFER@[w], ~mask);
  atomicOr(&@BUFFER@[w], v & mask);
}
fn @_store32(a: u32, v: u32) {
  let shift = (a & 3u) * 8u;
  if (shift == 0u) { atomicStore(&@BUFFER@[a >> 2u], v); return; }
  @_bits(a >> 2u, 0xffffffffu << shift, v << shift);
  @_bits((a >> 2u) + 1u, 0xffffffffu >> (32u - shift), v >> (32u - shift));
}
fn @_store16(a: u32, v: u32) {
  let shift = (a & 3u) * 8u;
  @_bits(a >> 2u, 0xffffu << shift, v << shift);
  if (shift == 24u) { @_bits((a >> 2u) + 1u, 0xffu, v >> 8u); }
}
fn @_store8(a: u32, v: u32) {
  let shift = (a & 3u) * 8u;
  @_bits(a >> 2u, 0xffu << shift, v << shift);
}
