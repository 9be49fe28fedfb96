// A norm per head, then pairs of dimensions turned by the token's position. One workgroup a head.
//#include grid
const LANES: u32 = 64u;
//#include norm_rope_head
//#if !prepare
fn head_width() -> u32 { return p.x.shape.x; }
fn head_tokens() -> u32 { return p.x.shape.z; }
//#if rows
//#port out f32
fn out_put(i: vec4<u32>, v: f32) { $out[(p.out.offset + dot(i.yzw, p.out.stride.yzw)) / 4u + i.x] = v; }
//#else
//#port out any
//#end
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(min(row, rows(p.x.shape) - 1u), p.x.shape);
  let factor = norm_factor(i, lane);
  if (row < rows(p.x.shape)) { put_head(i, i, factor, lane); }
}
//#end
