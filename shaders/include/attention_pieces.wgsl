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
//#if k_type=F32
//#port k vec4<f32>
fn k_piece(row: u32, piece: u32) -> Piece {
  let at = (row >> 4u) + piece * 2u;
  return Piece($k[at], $k[at + 1u]);
}
//#end
//#if k_type=F16
//#port k vec4<u32>
fn k_piece(row: u32, piece: u32) -> Piece { return halves($k[(row >> 4u) + piece]); }
//#end
//#if k_type=Q8_0
//#port k u32
fn k_piece(row: u32, piece: u32) -> Piece {
  let at = levels_at(row, piece);
  let block = row + (piece >> 2u) * 34u;
  // The third word is read where it holds a level: elsewhere it may lie behind the cache.
  let w = vec3<u32>($k[at >> 2u], $k[(at >> 2u) + 1u], $k[(at + 7u) >> 2u]);
  return levels(at, w, $k[block >> 2u] >> ((block & 2u) * 8u));
}
//#end
//#if v_type=F32
//#port v vec4<f32>
fn v_piece(row: u32, piece: u32) -> Piece {
  let at = (row >> 4u) + piece * 2u;
  return Piece($v[at], $v[at + 1u]);
}
//#end
//#if v_type=F16
//#port v vec4<u32>
fn v_piece(row: u32, piece: u32) -> Piece { return halves($v[(row >> 4u) + piece]); }
//#end
//#if v_type=Q8_0
//#port v u32
fn v_piece(row: u32, piece: u32) -> Piece {
  let at = levels_at(row, piece);
  let block = row + (piece >> 2u) * 34u;
  let w = vec3<u32>($v[at >> 2u], $v[(at >> 2u) + 1u], $v[(at + 7u) >> 2u]);
  return levels(at, w, $v[block >> 2u] >> ((block & 2u) * 8u));
}
//#end
