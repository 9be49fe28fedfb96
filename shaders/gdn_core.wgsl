// The gated delta rule with the norms of q and k, the decay and the write strength.
//#include gdn_any
//#if recur
// The factor that brings a row of this square length to length one.
fn unit(square: f32) -> f32 {
  return select(1.0 / sqrt(square + p.eps), 1.0 / max(sqrt(square), p.eps), p.form == 0u);
}
fn beta_of(c: Channel, t: u32) -> f32 { return sigmoid(beta_at(vec4<u32>(c.head, t, c.seq, 0u))); }
fn decay_of(c: Channel, t: u32, i: u32) -> f32 {
  let raw = alpha_at(vec4<u32>(c.head, t, c.seq, 0u)) + dt_at(vec4<u32>(c.head, 0u, 0u, 0u));
  return exp(a_at(vec4<u32>(c.head, 0u, 0u, 0u)) * softplus(raw));
}
//#end
