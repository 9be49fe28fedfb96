// Blocks of a repacked row: x is the address of the row, y the block's number in it.
fn @_locate(block: vec2<u32>, k: u32) -> u32 {
  @LOCATE@
}
fn @_b8(block: vec2<u32>, k: u32) -> u32 { return @_load8(@_locate(block, k)); }
fn @_b16(block: vec2<u32>, k: u32) -> u32 { return @_load16(@_locate(block, k)); }
fn @_b32(block: vec2<u32>, k: u32) -> u32 { return @_load32(@_locate(block, k)); }
fn @_b128(block: vec2<u32>, k: u32) -> vec4<u32> { return @_load128(@_locate(block, k)); }
fn @_at(i: vec4<u32>) -> f32 {
  return @_value(vec2<u32>(@_row(i), p.@.block + i.x / @VALUES@), i.x % @VALUES@);
}
