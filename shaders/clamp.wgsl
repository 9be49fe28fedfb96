// Values limited to a range; NaN fails both comparisons and stays.
//#include grid
//#port x any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  let v = x_at(i);
  out_put(i, select(select(v, p.max, v > p.max), p.min, v < p.min));
}
