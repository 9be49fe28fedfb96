// Pairs of dimensions turned by the token's position. One invocation a pair, or an element that passes through.
//#include grid
//#include rope_angles
//#if !prepare
fn head_width() -> u32 { return p.x.shape.x; }
fn head_tokens() -> u32 { return p.x.shape.z; }
//#if rows
//#port x f32
//#port out f32
fn x_at(i: vec4<u32>) -> f32 { return $x[(p.x.offset + dot(i.yzw, p.x.stride.yzw)) / 4u + i.x]; }
fn out_put(i: vec4<u32>, v: f32) { $out[(p.out.offset + dot(i.yzw, p.out.stride.yzw)) / 4u + i.x] = v; }
//#else
//#port x any
//#port out any
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let items = p.pairs + p.rest;
  if (n >= items * rows(p.x.shape)) { return; }
  let i = unflat_row(n / items, p.x.shape);
  let k = n % items;
  if (k >= p.pairs) {
    let at = vec4<u32>(other_of(k), i.yzw);
    out_put(at, x_at(at));
    return;
  }
  let pair = pair_of(k);
  let a = vec4<u32>(pair.x, i.yzw);
  let b = vec4<u32>(pair.y, i.yzw);
  let v = turned(vec2<f32>(x_at(a), x_at(b)), k, i.z);
  out_put(a, v.x);
  out_put(b, v.y);
}
//#end
