// Reads pieces of the port @: as loaded, and what that means. Between the two a lane can have many in flight.
//#if @_type=F32
//#port @ vec4<f32>
alias @_Raw = Piece;
fn @_raw(row: u32, piece: u32) -> @_Raw {
  let at = (row >> 4u) + piece * 2u;
  return Piece($@[at], $@[at + 1u]);
}
fn @_decoded(raw: @_Raw) -> Piece { return raw; }
//#end
//#if @_type=F16
//#port @ vec4<u32>
alias @_Raw = vec4<u32>;
fn @_raw(row: u32, piece: u32) -> @_Raw { return $@[(row >> 4u) + piece]; }
fn @_decoded(raw: @_Raw) -> Piece { return halves(raw); }
//#end
//#if @_type=Q8_0
//#port @ u32
struct @_Raw { at: u32, w: vec3<u32>, scale: u32 }
fn @_raw(row: u32, piece: u32) -> @_Raw {
  let at = levels_at(row, piece);
  let block = row + (piece >> 2u) * 34u;
  // The third word is read where it holds a level: elsewhere it may lie behind the cache.
  let w = vec3<u32>($@[at >> 2u], $@[(at >> 2u) + 1u], $@[(at + 7u) >> 2u]);
  return @_Raw(at, w, $@[block >> 2u] >> ((block & 2u) * 8u));
}
fn @_decoded(raw: @_Raw) -> Piece { return levels(raw.at, raw.w, raw.scale); }
//#end
//#if @_type=Q4_0
//#port @ u32
struct @_Raw { at: u32, w: vec3<u32>, scale: u32, shift: u32 }
fn @_raw(row: u32, piece: u32) -> @_Raw {
  let block = row + (piece >> 2u) * 18u;
  let at = block + 2u + (piece & 1u) * 8u;
  // The third word is read where it holds a level: elsewhere it may lie behind the cache.
  let w = vec3<u32>($@[at >> 2u], $@[(at >> 2u) + 1u], $@[(at + 7u) >> 2u]);
  return @_Raw(at, w, $@[block >> 2u] >> ((block & 2u) * 8u), (piece & 2u) * 2u);
}
fn @_decoded(raw: @_Raw) -> Piece { return nibbles(raw.at, raw.w, raw.scale, raw.shift); }
//#end
fn @_piece(row: u32, piece: u32) -> Piece { return @_decoded(@_raw(row, piece)); }
