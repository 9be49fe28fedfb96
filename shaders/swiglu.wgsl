// A gate's function times another value.
//#include grid
//#include functions
//#if rows
// In four-value groups, one an invocation.
//#port gate vec4<f32>
//#port up vec4<f32>
//#port out vec4<f32>
fn quad(t: Tensor, i: vec4<u32>) -> u32 {
  return (t.offset + i.y * t.stride.y + i.z * t.stride.z + i.w * t.stride.w) / 16u + i.x;
}
//#else
// Any type and layout, one element an invocation.
//#port gate any
//#port up any
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
  $out[quad(p.out, i)] = gate_values(p.kind, $gate[quad(p.gate, i)]) * $up[quad(p.up, i)];
//#else
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  out_put(i, opening(p.kind, gate_at(i)) * up_at(i));
//#end
}
