fn @_sixteen(block: vec2<u32>, g: u32) -> Sixteen {
  let step = half_value(@_b16(block, 52u));
  if (g == 15u) { return stepped(less(digits(vec4<u32>(@_b32(block, 48u)), vec4<u32>(1u, 3u, 9u, 27u)), 1u), step); }
  // Five digits of 32 bytes, then five of sixteen.
  let at = select(32u, g % 2u * 16u, g < 10u);
  let power = power_of_three(select(g - 10u, g / 2u, g < 10u));
  return stepped(less(digits(@_b128(block, at), vec4<u32>(power)), 1u), step);
}
