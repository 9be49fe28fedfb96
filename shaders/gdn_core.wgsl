// The gated delta rule with the norms of q and k, the decay and the write strength.
// The factor that brings a row of this square length to length one.
fn unit(square: f32) -> f32 {
  return select(1.0 / sqrt(square + p.eps), 1.0 / max(sqrt(square), p.eps), p.form == 0u);
}
//#if gather
//#include gdn_gather
//#end
//#if lanes
//#include gdn_heads
fn strengths(own: Own, n: u32, head: u32) -> vec2<f32> {
  let t = token(own, n);
  let alpha = p.alpha.offset + head * p.alpha.stride.x + t.x * p.alpha.stride.y + t.y * p.alpha.stride.z;
  let beta = p.beta.offset + head * p.beta.stride.x + t.x * p.beta.stride.y + t.y * p.beta.stride.z;
  let raw = $alpha[alpha / 4u] + $dt[(p.dt.offset + head * p.dt.stride.x) / 4u];
  return vec2<f32>(exp($a[(p.a.offset + head * p.a.stride.x) / 4u] * softplus(raw)), sigmoid($beta[beta / 4u]));
}
//#end
//#if work
//#include gdn_any
//#if recur
fn beta_of(c: Channel, t: u32) -> f32 { return sigmoid(beta_at(vec4<u32>(c.head, t, c.seq, 0u))); }
fn decay_of(c: Channel, t: u32, i: u32) -> f32 {
  let raw = alpha_at(vec4<u32>(c.head, t, c.seq, 0u)) + dt_at(vec4<u32>(c.head, 0u, 0u, 0u));
  return exp(a_at(vec4<u32>(c.head, 0u, 0u, 0u)) * softplus(raw));
}
//#end
//#end
