// Encodes and stores 32 values as the block of index i (x counts blocks).
fn @_put_block(i: vec4<u32>, v: ptr<function, array<f32, 32>>) {
  let a = @_row(i) + i.x * p.@.stride.x;
  var peak = 0.0;
  for (var j = 0u; j < 32u; j++) { peak = select(peak, (*v)[j], abs((*v)[j]) > abs(peak)); }
  let bits = half_bits(clamp(peak * -0.125, -65504.0, 65504.0));
  let size = half_inverse(bits & 0x7fffu);
  let inverse = select(size, -size, (bits & 0x8000u) != 0u);
  @_store16(a, bits);
  for (var j = 0u; j < 16u; j++) {
    let low = u32(clamp(round_away(@_apart((*v)[j] * inverse) + 8.0), 0.0, 15.0));
    let high = u32(clamp(round_away(@_apart((*v)[j + 16u] * inverse) + 8.0), 0.0, 15.0));
    @_store8(a + 2u + j, low | (high << 4u));
  }
}
