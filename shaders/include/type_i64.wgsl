// An index beyond 32 bits is as far outside as the smallest integer.
fn @_byte(i: vec4<u32>) -> u32 { return @_row(i) + i.x * p.@.stride.x; }
fn @_int(i: vec4<u32>) -> i32 {
  let a = @_byte(i);
  let low = bitcast<i32>(@_load32(a));
  let high = bitcast<i32>(@_load32(a + 4u));
  return select(i32(-2147483647 - 1), low, high == (low >> 31u));
}
fn @_at(i: vec4<u32>) -> f32 { return f32(@_int(i)); }
