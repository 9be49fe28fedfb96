fn @_value(block: vec2<u32>, i: u32) -> f32 {
  let half = i >> 7u;
  let l = i & 31u;
  let quarter = (i >> 5u) & 3u;
  let low = (@_b8(block, half * 64u + l + 32u * (quarter & 1u)) >> (4u * (quarter >> 1u))) & 15u;
  let high = (@_b8(block, 128u + half * 32u + l) >> (2u * quarter)) & 3u;
  let scale = signed_byte(@_b8(block, 192u + half * 8u + (l >> 4u) + 2u * quarter));
  return half_value(@_b16(block, 208u)) * scale * (f32(low | (high << 4u)) - 32.0);
}
