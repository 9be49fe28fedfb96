// Columns of x as halves, packed, to scratch memory: four values an invocation.
//#include grid
//#include convert_halves
//#port x vec4<f32>
//#scratch vec4<f16>
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = flat(group, groups) * 256u + lane;
  let quads = p.x.shape.x / 4u;
  if (i >= quads * p.x.shape.y) { return; }
  $scratch[i] = halves($x[(p.x.offset + i / quads * p.x.stride.y) / 16u + i % quads]);
}
