//#include numbers
fn half_pair(low: f32, high: f32) -> u32 { return half_bits(low) | (half_bits(high) << 16u); }
