// Eight consecutive values of a cached row, by the row's first byte.
//#include numbers
struct Piece { a: vec4<f32>, b: vec4<f32> }
fn halves(w: vec4<u32>) -> Piece {
  return Piece(vec4<f32>(unpack2x16float(w.x), unpack2x16float(w.y)),
               vec4<f32>(unpack2x16float(w.z), unpack2x16float(w.w)));
}
// The first byte of eight levels of Q8_0: 34 bytes a block, the scale first.
fn levels_at(row: u32, piece: u32) -> u32 { return row + (piece >> 2u) * 34u + 2u + (piece & 3u) * 8u; }
fn levels(at: u32, w: vec3<u32>, scale: u32) -> Piece {
  let odd = (at & 2u) != 0u;
  let low = select(w.x, (w.x >> 16u) | (w.y << 16u), odd);
  let high = select(w.y, (w.y >> 16u) | (w.z << 16u), odd);
  let d = half_value(scale & 0xffffu);
  return Piece(d * vec4<f32>(unpack4xI8(low)), d * vec4<f32>(unpack4xI8(high)));
}
//#include attention_piece k
//#include attention_piece v
