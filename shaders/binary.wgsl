// A function of two values; the second tensor is repeated to the first's shape.
//#include grid
//#port a any
//#port b any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  let u = a_at(i);
  let v = b_at(repeated(i, p.b.shape));
  switch p.kind {
    case 0u: { out_put(i, u + v); }
    case 1u: { out_put(i, u - v); }
    case 2u: { out_put(i, u * v); }
    default: { out_put(i, u / v); }
  }
}
