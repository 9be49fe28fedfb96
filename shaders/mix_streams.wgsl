// Residual streams read as one row, each value through the sigmoid of a gate of its own.
//#include grid
//#include functions
//#if rows
// In four-value groups, one an invocation.
//#port x vec4<f32>
//#port gate vec4<f32>
//#port out vec4<f32>
//#else
// Any layout, one element an invocation.
//#port x any
//#port gate any
//#port out any
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
//#if rows
  let shape = vec4<u32>(p.out.shape.x / 4u, p.out.shape.yzw);
  if (n >= elements(shape)) { return; }
  let i = unflat(n, shape);
  let x = (p.x.offset + i.y * p.x.stride.z) / 16u + i.x;
  let gate = (p.gate.offset + i.y * p.gate.stride.z) / 16u + i.x;
  var sum = vec4<f32>();
  for (var s = 0u; s < p.x.shape.y; s++) {
    sum += $x[x + s * p.x.stride.y / 16u] * gate_values(1u, $gate[gate + s * p.gate.stride.y / 16u]);
  }
  $out[(p.out.offset + i.y * p.out.stride.y) / 16u + i.x] = sum;
//#else
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  var sum = 0.0;
  for (var s = 0u; s < p.x.shape.y; s++) {
    let at = vec4<u32>(i.x, s, i.y, 0u);
    sum += x_at(at) * sigmoid(gate_at(at));
  }
  out_put(i, sum);
//#end
}
