// One triangle of each square matrix. The rest becomes zero by selection, whatever it held.
//#include grid
//#port x any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  var kept = false;
  switch p.keep {
    case 0u: { kept = i.x < i.y; }
    case 1u: { kept = i.x <= i.y; }
    case 2u: { kept = i.x > i.y; }
    default: { kept = i.x >= i.y; }
  }
  out_put(i, select(0.0, x_at(i), kept));
}
