// A causal depthwise convolution over tokens, an invocation per element of the result.
//#include grid
//#port x any
//#port weight any
//#port history any
//#port out any
//#if has_segments
//#include gdn_segments
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  let taps = p.weight.shape.x;
  var sum = 0.0;
//#if has_segments
  if (!segments_hold(p.x.shape.y, p.history.shape.z, n == 0u)) { return; }
  let own = segment_of(i.y);
  if (own.count == 0u) { return; }
  let since = i.y - own.row;
  for (var k = 0u; k < taps; k++) {
    let steps = (taps - 1u - k) * p.dilation;
    var past = 0.0;
    if (steps <= since) {
      past = x_at(vec4<u32>(i.x, i.y - steps, 0u, 0u));
    } else {
      let back = history_back(own.fresh, own.plane, steps - since, p.history.shape.x);
      if (back > 0u) { past = history_at(vec4<u32>(p.history.shape.x - back, i.x, own.slot, 0u)); }
    }
    sum += past * weight_at(vec4<u32>(k, i.x, 0u, 0u));
  }
//#else
  for (var k = 0u; k < taps; k++) {
    sum += x_at(vec4<u32>(i.y + k * p.dilation, i.x, i.z, 0u)) * weight_at(vec4<u32>(k, i.x, 0u, 0u));
  }
//#end
  out_put(i, sum);
}
