// Keeps a product from being joined with a sum, which would round once instead of twice: `spare` is 0.
fn @_apart(v: f32) -> f32 { return bitcast<f32>(bitcast<u32>(v) ^ p.@.spare); }
