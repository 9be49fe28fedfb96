// Forward substitution, one invocation a column: it reads back what it has written.
//#include grid
//#port a any
//#port b any
//#port out any
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 64u + lane;
  let columns = vec4<u32>(p.out.shape.x, 1u, p.out.shape.zw);
  if (n >= elements(columns)) { return; }
  let at = unflat(n, columns);
  for (var i = 0u; i < p.out.shape.y; i++) {
    var rest = b_at(vec4<u32>(at.x, i, at.zw));
    for (var j = 0u; j < i; j++) {
      rest -= a_at(vec4<u32>(j, i, at.zw)) * out_at(vec4<u32>(at.x, j, at.zw));
    }
    out_put(vec4<u32>(at.x, i, at.zw), rest / a_at(vec4<u32>(i, i, at.zw)));
  }
}
