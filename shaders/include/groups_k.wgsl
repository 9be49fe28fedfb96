// Scale (x) and minimum (y) of a group of 32.
fn @_group(block: vec2<u32>, g: u32) -> vec2<f32> {
  var scale = 0u;
  var least = 0u;
  if (g < 4u) {
    scale = @_b8(block, 4u + g) & 63u;
    least = @_b8(block, 8u + g) & 63u;
  } else {
    let low = @_b8(block, 8u + g);
    scale = (low & 15u) | ((@_b8(block, g) >> 6u) << 4u);
    least = (low >> 4u) | ((@_b8(block, 4u + g) >> 6u) << 4u);
  }
  return vec2<f32>(half_value(@_b16(block, 0u)) * f32(scale), half_value(@_b16(block, 2u)) * f32(least));
}
