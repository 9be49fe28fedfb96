// Two tensors joined along a dimension.
//#include grid
//#include convert
//#port a any
//#port b any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  var source = i;
  if (i[p.dim] < p.a.shape[p.dim]) {
//#if out_type=I32
//#if a_type=I32
    out_put_int(i, a_int(source));
//#else
    out_put_int(i, int_of(a_at(source)));
//#end
//#else
//#if a_type=I32
    out_put(i, float_of(a_int(source)));
//#else
    out_put(i, a_at(source));
//#end
//#end
  } else {
    source[p.dim] -= p.a.shape[p.dim];
//#if out_type=I32
//#if b_type=I32
    out_put_int(i, b_int(source));
//#else
    out_put_int(i, int_of(b_at(source)));
//#end
//#else
//#if b_type=I32
    out_put(i, float_of(b_int(source)));
//#else
    out_put(i, b_at(source));
//#end
//#end
  }
}
