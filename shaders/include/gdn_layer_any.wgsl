// For any layout, in four launches: convolution and SiLU to scratch memory [channel, token], the history's new tail, the
// recurrence of value channels (whose outputs take the place of their values in the scratch), and the gated norm.
//#include grid
//#include functions
//#include gdn_segments
fn slots() -> u32 { return min(p.history.shape.z, p.state.shape.w / p.snapshots); }
//#if stage=mix
//#port x any
//#port conv any
//#port history any
//#scratch f32
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let channels = p.x.shape.x;
  if (n >= channels * p.x.shape.y) { return; }
  if (!segments_hold(p.x.shape.y, slots(), n == 0u)) { return; }
  let t = n / channels;
  let c = n % channels;
  let own = segment_of(t);
  if (own.count == 0u) { return; }
  let since = t - own.row;
  let taps = p.conv.shape.x;
  var sum = 0.0;
  for (var k = 0u; k < taps; k++) {
    let steps = taps - 1u - k;
    var past = 0.0;
    if (steps <= since) {
      past = x_at(vec4<u32>(c, t - steps, 0u, 0u));
    } else {
      let back = history_back(own.fresh, own.plane, steps - since, p.history.shape.x);
      if (back > 0u) { past = history_at(vec4<u32>(p.history.shape.x - back, c, own.slot, 0u)); }
    }
    sum += past * conv_at(vec4<u32>(k, c, 0u, 0u));
  }
  $scratch[n] = unary(0u, sum);
}
//#end
//#if stage=tail
//#port x any
//#port history any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let channels = p.x.shape.x;
  if (n >= channels * p.segments.shape.y) { return; }
  if (!segments_hold(p.x.shape.y, slots(), false)) { return; }
  let own = segment(n / channels);
  if (own.count == 0u) { return; }
  let c = n % channels;
  let reach = p.history.shape.x;
  for (var k = 0u; k < reach; k++) {
    let t = tail_place(own.count, own.plane, k, reach);
    let steps = reach - 1u - t;
    var value = 0.0;
    if (steps < own.count) {
      value = x_at(vec4<u32>(c, own.row + own.count - 1u - steps, 0u, 0u));
    } else {
      let back = history_back(own.fresh, own.plane, steps - own.count + 1u, reach);
      if (back > 0u) { value = history_at(vec4<u32>(reach - back, c, own.slot, 0u)); }
    }
    history_put(vec4<u32>(t, c, own.slot, 0u), value);
  }
}
//#end
//#if recur
//#include gdn_recur
//#port alpha any
//#port dt any
//#port a any
//#port beta any
//#port state any
//#scratch f32
fn key_at(c: Channel, t: u32, i: u32) -> u32 {
  let head = select(c.head / (p.out.shape.y / p.key_heads), c.head % p.key_heads, p.heads == 0u);
  return t * p.x.shape.x + head * p.out.shape.x + i;
}
fn value_at(c: Channel, t: u32) -> u32 {
  return t * p.x.shape.x + (2u * p.key_heads + c.head) * p.out.shape.x + c.j;
}
fn q_of(c: Channel, t: u32, i: u32) -> f32 { return $scratch[key_at(c, t, i)]; }
fn k_of(c: Channel, t: u32, i: u32) -> f32 { return $scratch[key_at(c, t, i) + p.key_heads * p.out.shape.x]; }
fn v_of(c: Channel, t: u32) -> f32 { return $scratch[value_at(c, t)]; }
fn emit(c: Channel, t: u32, v: f32) { $scratch[value_at(c, t)] = v; }
fn beta_of(c: Channel, t: u32) -> f32 { return sigmoid(beta_at(vec4<u32>(c.head, t, 0u, 0u))); }
fn decay_of(c: Channel, t: u32, i: u32) -> f32 {
  let raw = alpha_at(vec4<u32>(c.head, t, 0u, 0u)) + dt_at(vec4<u32>(c.head, 0u, 0u, 0u));
  return exp(a_at(vec4<u32>(c.head, 0u, 0u, 0u)) * softplus(raw));
}
// The factor that brings a row of this square length to length one.
fn unit(square: f32) -> f32 {
  return select(1.0 / sqrt(square + p.l2_eps), 1.0 / max(sqrt(square), p.l2_eps), p.form == 0u);
}
fn work_at(c: Channel, i: u32) -> f32 { return state_at(vec4<u32>(i, c.j, c.head, c.plane)); }
fn plane_put(c: Channel, plane: u32, i: u32, v: f32) { state_put(vec4<u32>(i, c.j, c.head, c.plane + plane), v); }
fn work_put(c: Channel, i: u32, v: f32) { plane_put(c, 0u, i, v); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let dim = p.out.shape.x;
  let of_segment = dim * p.out.shape.y;
  if (n >= of_segment * p.segments.shape.y) { return; }
  if (!segments_hold(p.x.shape.y, slots(), false)) { return; }
  let own = segment(n / of_segment);
  if (own.count == 0u) { return; }
  let c = Channel(n % dim, (n % of_segment) / dim, 0u, own.slot * p.snapshots);
  let plane = c.plane + min(own.plane, p.snapshots - 1u);
  for (var i = 0u; i < dim; i++) {
    if (own.fresh) { work_put(c, i, 0.0); } else { work_put(c, i, state_at(vec4<u32>(i, c.j, c.head, plane))); }
  }
  recur(c, dim, own.row, own.count);
}
//#end
//#if stage=norm
//#include reduce
//#port z any
//#port weight any
//#port out any
//#scratch f32
var<workgroup> inside: u32;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let head = row % p.out.shape.y;
  let t = row / p.out.shape.y;
  if (lane == 0u) {
    inside = u32(t < p.out.shape.z && segments_hold(p.x.shape.y, slots(), false) && segment_of(t).count > 0u);
  }
  if (workgroupUniformLoad(&inside) == 0u) { return; }
  let dim = p.out.shape.x;
  let start = t * p.x.shape.x + (2u * p.key_heads + head) * dim;
  var sum = 0.0;
  for (var j = lane; j < dim; j += 256u) { sum += $scratch[start + j] * $scratch[start + j]; }
  let factor = inverseSqrt(group_sum(sum, lane) / f32(dim) + p.eps);
  for (var j = lane; j < dim; j += 256u) {
    let at = vec4<u32>(j, head, t, 0u);
    let gate = opening(p.act, z_at(at));
    out_put(at, $scratch[start + j] * factor * weight_at(vec4<u32>(j, 0u, 0u, 0u)) * gate);
  }
}
//#end
