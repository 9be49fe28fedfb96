// The gated delta rule, token by token.
//#include gdn_any
//#if recur
fn unit(square: f32) -> f32 { return 1.0; }
fn beta_of(c: Channel, t: u32) -> f32 { return beta_at(vec4<u32>(0u, c.head, t, c.seq)); }
fn decay_of(c: Channel, t: u32, i: u32) -> f32 {
  return exp(gate_at(vec4<u32>(i % p.gate.shape.x, c.head, t, c.seq)));
}
//#end
