// Indices that sort each row: every element counts those before it.
//#include grid
//#include order
//#port x any
//#port out any
fn key(i: vec4<u32>) -> u32 {
  let key = order_key(x_at(i));
  return select(key, ~key, p.descending == 1u);
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.x.shape)) { return; }
  let i = unflat(n, p.x.shape);
  let own = key(i);
  var rank = 0u;
  for (var j = 0u; j < p.x.shape.x; j++) {
    let other = key(vec4<u32>(j, i.yzw));
    rank += select(0u, 1u, other < own || (other == own && j < i.x));
  }
  out_put_int(vec4<u32>(rank, i.yzw), i32(i.x));
}
