// Blocks as they lie in a file: x is the address of the block.
fn @_b8(block: vec2<u32>, k: u32) -> u32 { return @_load8(block.x + k); }
fn @_b16(block: vec2<u32>, k: u32) -> u32 { return @_load16(block.x + k); }
fn @_b32(block: vec2<u32>, k: u32) -> u32 { return @_load32(block.x + k); }
fn @_b128(block: vec2<u32>, k: u32) -> vec4<u32> { return @_load128(block.x + k); }
fn @_at(i: vec4<u32>) -> f32 {
  let block = vec2<u32>(@_row(i) + (i.x / @VALUES@) * p.@.stride.x, 0u);
  return @_value(block, i.x % @VALUES@);
}
