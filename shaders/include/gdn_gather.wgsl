// Old states by row, to scratch memory: four values an invocation.
//#include grid
//#port state vec4<f32>
//#port rows any
//#scratch vec4<f32>
//#fault
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 128u + lane;
  let dim = p.v.shape.x;
  let line = dim / 4u;
  let j = n / line % dim;
  let head = n / (line * dim) % p.v.shape.y;
  let seq = n / (line * dim * p.v.shape.y);
  if (seq >= p.v.shape.w) { return; }
  let row = rows_int(vec4<u32>(seq, 0u, 0u, 0u));
  if (row < 0 || u32(row) >= p.state.shape.w) {
    if (head == 0u && j == 0u && n % line == 0u) { fault($rows_port, row, p.state.shape.w); }
    return;
  }
  let at = p.state.offset + u32(row) * p.state.stride.w + head * p.state.stride.z + j * p.state.stride.y;
  $scratch[n] = $state[at / 16u + n % line];
}
