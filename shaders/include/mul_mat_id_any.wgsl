// Every type and layout: one invocation an element of the result. The bound weights are experts `first` and following of
// `experts`, and their rows are those of the bound result: a launch for each window of weights too large to bind.
//#include grid
//#port weight any
//#port x any
//#port ids any
//#port out any
//#fault
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  let id = ids_int(vec4<u32>(i.y, i.z, 0u, 0u));
  if (id < 0 || u32(id) >= p.experts) {
    if (i.x == 0u) { fault($ids_port, id, p.experts); }
    return;
  }
  // Wraps below the window to a large number.
  let expert = u32(id) - p.first;
  if (expert >= p.weight.shape.z) { return; }
  let row = vec4<u32>(0u, i.x, expert, 0u);
  let column = vec4<u32>(0u, i.y % p.x.shape.y, i.z, 0u);
  var sum = 0.0;
  for (var k = 0u; k < p.x.shape.x; k++) {
    let at = vec4<u32>(k, 0u, 0u, 0u);
    sum = fma(weight_at(row + at), x_at(column + at), sum);
  }
  out_put(i, sum);
}
