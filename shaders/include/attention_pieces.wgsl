// Eight consecutive values of a cached row, by the row's first byte.
//#include numbers
struct Piece { a: vec4<f32>, b: vec4<f32> }
fn halves(w: vec4<u32>) -> Piece {
  return Piece(vec4<f32>(unpack2x16float(w.x), unpack2x16float(w.y)),
               vec4<f32>(unpack2x16float(w.z), unpack2x16float(w.w)));
}
// The first byte of eight levels of Q8_0: 34 bytes a block, the scale first.
fn levels_at(row: u32, piece: u32) -> u32 { return row + (piece >> 2u) * 34u + 2u + (piece & 3u) * 8u; }
// Eight bytes from an even address on.
fn eight_bytes(at: u32, w: vec3<u32>) -> vec2<u32> {
  let odd = (at & 2u) != 0u;
  return select(w.xy, (w.xy >> vec2<u32>(16u)) | (w.yz << vec2<u32>(16u)), odd);
}
fn levels(at: u32, w: vec3<u32>, scale: u32) -> Piece {
  let bytes = eight_bytes(at, w);
  let d = half_value(scale & 0xffffu);
  return Piece(d * vec4<f32>(unpack4xI8(bytes.x)), d * vec4<f32>(unpack4xI8(bytes.y)));
}
// Of Q4_0: 18 bytes a block, the scale first, then two levels a byte, of which `shift` chooses.
fn nibbles(at: u32, w: vec3<u32>, scale: u32, shift: u32) -> Piece {
  let bytes = (eight_bytes(at, w) >> vec2<u32>(shift)) & vec2<u32>(0x0f0f0f0fu);
  let d = half_value(scale & 0xffffu);
  return Piece(d * (vec4<f32>(unpack4xU8(bytes.x)) - 8.0), d * (vec4<f32>(unpack4xU8(bytes.y)) - 8.0));
}
//#include attention_piece k
//#include attention_piece v
