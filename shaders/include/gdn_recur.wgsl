// The delta rule of one value channel of a head, token by token, for any layout. The kernel's file says where operands and
// states lie: k_of, q_of, v_of, beta_of, decay_of, unit, emit, work_at, work_put and plane_put. An invocation owns a row of
// the state, so nothing is shared and no barrier is needed.
struct Channel { j: u32, head: u32, seq: u32, plane: u32 }
//#if recur
// One pass reads the state: sums of the decayed row with k and q, and their own products, give delta and the output.
fn recur(c: Channel, dim: u32, first: u32, count: u32) {
  let scale = 1.0 / sqrt(f32(dim));
  for (var n = 0u; n < count; n++) {
    let t = first + n;
    var held = 0.0;
    var asked = 0.0;
    var products = vec3<f32>(0.0);
    var decay = decay_of(c, t, 0u);
    for (var i = 0u; i < dim; i++) {
//#if gates
      if (p.gate.shape.x > 1u) { decay = decay_of(c, t, i); }
//#end
      let s = work_at(c, i) * decay;
      let k = k_of(c, t, i);
      let q = q_of(c, t, i);
      held += s * k;
      asked += s * q;
      products += vec3<f32>(k * k, q * q, k * q);
    }
    let k_unit = unit(products.x);
    let q_unit = unit(products.y);
    let delta = (v_of(c, t) - held * k_unit) * beta_of(c, t) * k_unit;
    emit(c, t, (asked + delta * products.z) * q_unit * scale);
    let plane = count - 1u - n;
    let kept = plane > 0u && plane < p.snapshots;
    for (var i = 0u; i < dim; i++) {
//#if gates
      if (p.gate.shape.x > 1u) { decay = decay_of(c, t, i); }
//#end
      let s = work_at(c, i) * decay + delta * k_of(c, t, i);
      work_put(c, i, s);
      if (kept) { plane_put(c, plane, i, s); }
    }
  }
}
//#end
