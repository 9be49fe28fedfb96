// Encodes and stores 32 values as the block of index i (x counts blocks).
fn @_put_block(i: vec4<u32>, v: ptr<function, array<f32, 32>>) {
  let a = @_row(i) + i.x * p.@.stride.x;
  var peak = 0.0;
  for (var j = 0u; j < 32u; j++) { peak = max(peak, abs((*v)[j])); }
  let bits = half_bits(min(over_127(peak), 65504.0));
  let inverse = half_inverse(bits);
  @_store16(a, bits);
  for (var j = 0u; j < 32u; j++) {
    @_store8(a + 2u + j, bitcast<u32>(i32(clamp(round_away(@_apart((*v)[j] * inverse)), -127.0, 127.0))) & 0xffu);
  }
}
