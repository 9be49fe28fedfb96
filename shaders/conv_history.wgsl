// The last inputs of each segment, an invocation per channel and segment. Bits are moved, never computed with.
//#include grid
//#include gdn_segments
//#port x any
//#port history_out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let channels = p.x.shape.x;
  if (n >= channels * p.segments.shape.y) { return; }
  if (!segments_hold(p.x.shape.y, p.history_out.shape.z, n == 0u)) { return; }
  let own = segment(n / channels);
  if (own.count == 0u) { return; }
  let c = n % channels;
  let reach = p.history_out.shape.x;
  for (var k = 0u; k < reach; k++) {
    let t = tail_place(own.count, own.plane, k, reach);
    let steps = reach - 1u - t;
    var bits = 0u;
    if (steps < own.count) {
      bits = x_load32(x_byte(vec4<u32>(c, own.row + own.count - 1u - steps, 0u, 0u)));
    } else {
      let back = history_back(own.fresh, own.plane, steps - own.count + 1u, reach);
      if (back > 0u) { bits = history_out_load32(history_out_byte(vec4<u32>(reach - back, c, own.slot, 0u))); }
    }
    history_out_store32(history_out_byte(vec4<u32>(t, c, own.slot, 0u)), bits);
  }
}
