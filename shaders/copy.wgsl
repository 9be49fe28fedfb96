// Elements in order from one type, shape and layout to another.
//#include grid
//#if rows
// Rows of whole vectors, equal shapes.
//#port x vec4<f32>
//#if out_type=F16
//#port out vec2<u32>
//#include halves
//#else
//#port out vec4<f32>
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let shape = vec4<u32>(p.x.shape.x / 4u, p.x.shape.yzw);
  if (n >= elements(shape)) { return; }
  let i = unflat(n, shape);
  let v = $x[(p.x.offset + dot(i.yzw, p.x.stride.yzw)) / 16u + i.x];
  let at = p.out.offset + dot(i.yzw, p.out.stride.yzw);
//#if out_type=F16
  $out[at / 8u + i.x] = vec2<u32>(half_pair(v.x, v.y), half_pair(v.z, v.w));
//#else
  $out[at / 16u + i.x] = v;
//#end
}
//#else
//#include convert
//#port x any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
//#if blocks
  let shape = vec4<u32>(p.out.shape.x / 32u, p.out.shape.yzw);
  if (n >= elements(shape)) { return; }
  var values: array<f32, 32>;
  for (var j = 0u; j < 32u; j++) { values[j] = source(n * 32u + j); }
  out_put_block(unflat(n, shape), &values);
//#else
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
//#if out_type=I32
//#if x_type=I32
  out_put_int(i, x_int(unflat(n, p.x.shape)));
//#else
  out_put_int(i, int_of(source(n)));
//#end
//#else
  out_put(i, source(n));
//#end
//#end
}
fn source(n: u32) -> f32 {
//#if x_type=I32
  return float_of(x_int(unflat(n, p.x.shape)));
//#else
  return x_at(unflat(n, p.x.shape));
//#end
}
//#end
