// The gated delta rule, token by token.
//#if !lanes
//#include gdn_any
//#if recur
fn unit(square: f32) -> f32 { return 1.0; }
fn beta_of(c: Channel, t: u32) -> f32 { return beta_at(vec4<u32>(0u, c.head, t, c.seq)); }
fn decay_of(c: Channel, t: u32, i: u32) -> f32 {
  return exp(gate_at(vec4<u32>(i % p.gate.shape.x, c.head, t, c.seq)));
}
//#end
//#else
//#include gdn_heads
fn unit(square: f32) -> f32 { return 1.0; }
fn strengths(own: Own, n: u32, head: u32) -> vec2<f32> {
  let t = token(own, n);
  let gate = p.gate.offset + head * p.gate.stride.y + t.x * p.gate.stride.z + t.y * p.gate.stride.w;
  let beta = p.beta.offset + head * p.beta.stride.y + t.x * p.beta.stride.z + t.y * p.beta.stride.w;
  return vec2<f32>(exp($gate[gate / 4u]), $beta[beta / 4u]);
}
//#end
