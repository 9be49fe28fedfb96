// Every type and layout: one invocation an element of the result.
//#include grid
//#port weight any
//#port x any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  let row = vec4<u32>(0u, i.x, i.z % p.weight.shape.z, i.w % p.weight.shape.w);
  let column = vec4<u32>(0u, i.y, i.z, i.w);
  var sum = 0.0;
  for (var k = 0u; k < p.x.shape.x; k++) {
    let at = vec4<u32>(k, 0u, 0u, 0u);
    sum = fma(weight_at(row + at), x_at(column + at), sum);
  }
  out_put(i, sum);
}
