// An integer that orders floats: NaN as minus infinity, negative zero before zero.
fn order_key(v: f32) -> u32 {
  let bits = select(bitcast<u32>(v), 0xff800000u, is_nan(v));
  return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}
