// Reads pieces of the port @.
//#if @_type=F32
//#port @ vec4<f32>
fn @_piece(row: u32, piece: u32) -> Piece {
  let at = (row >> 4u) + piece * 2u;
  return Piece($@[at], $@[at + 1u]);
}
//#end
//#if @_type=F16
//#port @ vec4<u32>
fn @_piece(row: u32, piece: u32) -> Piece { return halves($@[(row >> 4u) + piece]); }
//#end
//#if @_type=Q8_0
//#port @ u32
fn @_piece(row: u32, piece: u32) -> Piece {
  let at = levels_at(row, piece);
  let block = row + (piece >> 2u) * 34u;
  // The third word is read where it holds a level: elsewhere it may lie behind the cache.
  let w = vec3<u32>($@[at >> 2u], $@[(at >> 2u) + 1u], $@[(at + 7u) >> 2u]);
  return levels(at, w, $@[block >> 2u] >> ((block & 2u) * 8u));
}
//#end
