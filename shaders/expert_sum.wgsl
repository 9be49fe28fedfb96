// What the experts of each token give, weighted and summed, and that of an expert that all use.
//#include grid
//#include functions
//#port weights any
//#port gate any
//#if rows
// In four-value groups, one an invocation.
//#port x vec4<f32>
//#port extra vec4<f32>
//#port out vec4<f32>
//#else
// Any layout, one element an invocation.
//#port x any
//#port extra any
//#port out any
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
//#if rows
  let shape = vec4<u32>(p.out.shape.x / 4u, p.out.shape.yzw);
  var sum = vec4<f32>();
//#else
  let shape = p.out.shape;
  var sum = 0.0;
//#end
  if (n >= elements(shape)) { return; }
  let i = unflat(n, shape);
  for (var s = 0u; s < p.x.shape.y; s++) {
//#if rows
    let x = $x[(p.x.offset + s * p.x.stride.y + i.y * p.x.stride.z) / 16u + i.x];
//#else
    let x = x_at(vec4<u32>(i.x, s, i.y, 0u));
//#end
    sum += weights_at(vec4<u32>(s, i.y, 0u, 0u)) * x;
  }
//#if has_extra
  let opened = sigmoid(gate_at(vec4<u32>(0u, i.y, 0u, 0u)));
//#if rows
  sum += opened * $extra[(p.extra.offset + i.y * p.extra.stride.y) / 16u + i.x];
//#else
  sum += opened * extra_at(vec4<u32>(i.x, i.y, 0u, 0u));
//#end
//#end
//#if rows
  $out[(p.out.offset + i.y * p.out.stride.y) / 16u + i.x] = sum;
//#else
  out_put(i, sum);
//#end
}
