// A vector per batch entry becomes a diagonal matrix.
//#include grid
//#port x any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  var v = 0.0;
  if (i.x == i.y) { v = x_at(vec4<u32>(i.x, 0u, i.z, i.w)); }
  out_put(i, v);
}
