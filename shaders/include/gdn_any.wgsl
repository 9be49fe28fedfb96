// The delta rule over states in a pool, in the result, or (where there is no token to put a state in the result for) in
// scratch memory. The newest state is worked on where it belongs.
//#include grid
//#include functions
//#include gdn_recur
//#port state any
//#port state_out any
//#if recur
//#port q any
//#port k any
//#port v any
//#port gate any
//#port beta any
//#port alpha any
//#port dt any
//#port a any
//#else
//#port rows any
//#fault
//#end
//#if work=scratch
//#scratch f32
//#else
//#port out any
//#end
//#if has_segments
//#if recur
//#include gdn_segments
//#end
//#end
// The result without segments: outputs of all tokens, then states, newest first, in rows of one flat tensor.
fn flat_index(e: u32) -> vec4<u32> { return vec4<u32>(e % p.out.shape.x, e / p.out.shape.x, 0u, 0u); }
fn matrix_index(c: Channel, plane: u32, i: u32) -> u32 {
  let at = (plane * p.v.shape.w + c.seq) * p.v.shape.y + c.head;
  return (at * p.v.shape.x + c.j) * p.v.shape.x + i;
}
fn state_index(c: Channel, plane: u32, i: u32) -> vec4<u32> {
  return flat_index(p.out.shape.x * p.v.shape.z * p.v.shape.w + matrix_index(c, plane, i));
}
//#if work=pool
fn work_at(c: Channel, i: u32) -> f32 { return state_out_at(vec4<u32>(i, c.j, c.head, c.plane)); }
fn plane_put(c: Channel, plane: u32, i: u32, v: f32) { state_out_put(vec4<u32>(i, c.j, c.head, c.plane + plane), v); }
fn work_put(c: Channel, i: u32, v: f32) { plane_put(c, 0u, i, v); }
//#end
//#if work=out
fn work_at(c: Channel, i: u32) -> f32 { return out_at(state_index(c, 0u, i)); }
fn plane_put(c: Channel, plane: u32, i: u32, v: f32) { out_put(state_index(c, plane, i), v); }
fn work_put(c: Channel, i: u32, v: f32) { plane_put(c, 0u, i, v); }
//#end
//#if work=scratch
fn work_at(c: Channel, i: u32) -> f32 { return $scratch[matrix_index(c, 0u, i)]; }
fn plane_put(c: Channel, plane: u32, i: u32, v: f32) {}
fn work_put(c: Channel, i: u32, v: f32) { $scratch[matrix_index(c, 0u, i)] = v; }
fn emit(c: Channel, t: u32, v: f32) {}
//#else
//#if has_segments
fn emit(c: Channel, t: u32, v: f32) { out_put(vec4<u32>(c.j, c.head, t, 0u), v); }
//#else
fn emit(c: Channel, t: u32, v: f32) {
  out_put(flat_index(((c.seq * p.v.shape.z + t) * p.v.shape.y + c.head) * p.v.shape.x + c.j), v);
}
//#end
//#end
// The key head of a value head: tiled or grouped.
fn key_at(c: Channel, t: u32, i: u32) -> vec4<u32> {
  let keys = p.q.shape.y;
  let head = select(c.head / (p.v.shape.y / keys), c.head % keys, p.heads == 0u);
  return vec4<u32>(i, head, t, c.seq / (p.v.shape.w / p.q.shape.w));
}
//#if recur
fn k_of(c: Channel, t: u32, i: u32) -> f32 { return k_at(key_at(c, t, i)); }
fn q_of(c: Channel, t: u32, i: u32) -> f32 { return q_at(key_at(c, t, i)); }
fn v_of(c: Channel, t: u32) -> f32 { return v_at(vec4<u32>(c.j, c.head, t, c.seq)); }
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  let dim = p.v.shape.x;
  let of_seq = dim * p.v.shape.y;
  var c = Channel(n % dim, (n % of_seq) / dim, n / of_seq, 0u);
//#if has_segments
  if (c.seq >= p.segments.shape.y) { return; }
  let slots = min(p.state.shape.w, p.state_out.shape.w) / p.snapshots;
  if (!segments_hold(p.v.shape.z, slots, n == 0u)) { return; }
  let own = segment(c.seq);
  if (own.count == 0u) { return; }
  c.seq = 0u;
  c.plane = own.slot * p.snapshots;
  let plane = c.plane + min(own.plane, p.snapshots - 1u);
  for (var i = 0u; i < dim; i++) {
    if (own.fresh) { work_put(c, i, 0.0); } else { work_put(c, i, state_at(vec4<u32>(i, c.j, c.head, plane))); }
  }
  recur(c, dim, own.row, own.count);
//#else
  if (c.seq >= p.v.shape.w) { return; }
//#if recur
  recur(c, dim, 0u, p.v.shape.z);
//#if has_state_out
  for (var i = 0u; i < dim; i++) { state_out_put(vec4<u32>(i, c.j, c.head, c.seq), work_at(c, i)); }
//#end
//#else
  var source = c.seq;
//#if has_rows
  let row = rows_int(vec4<u32>(c.seq, 0u, 0u, 0u));
  if (row < 0 || u32(row) >= p.state.shape.w) {
    if (n % of_seq == 0u) { fault($rows_port, row, p.state.shape.w); }
    return;
  }
  source = u32(row);
//#end
  for (var i = 0u; i < dim; i++) { work_put(c, i, state_at(vec4<u32>(i, c.j, c.head, source))); }
//#end
//#end
}
