// The delta rule token by token with a piece of the state in registers: two value channels a team of LANES invocations, four
// vectors of each an invocation; those beyond a head's end are zero. The state is read and written once; each token costs one pass
// over it. Written out, since arrays and loops over them can end in memory. The kernel's file says where operands and states
// lie: own_of, guess_of, piece, strengths, unit, put_o, read_state, write_state, keep_state.
//#include grid
//#include functions
//#include gdn_own
//#include gdn_team
const DIM: u32 = $dim;
const TEAMS: u32 = 128u / LANES;
const CHANNELS: u32 = 2u * TEAMS;
// q, k and the values of these channels for one token.
const STAGED: u32 = DIM / 2u + CHANNELS / 4u;
var<workgroup> staged: array<vec4<f32>, STAGED>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32,
//#if subgroups
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) waves: u32,
        @builtin(subgroup_invocation_id) place: u32
//#end
        ) {
//#if subgroups
  let at = wave * waves + place;
//#else
  let at = lane;
//#end
  let n_group = flat(group, groups);
  let of_segment = heads() * (DIM / CHANNELS);
  let entry = n_group / of_segment;
  if (entry >= entries()) { return; }
  let head = n_group % of_segment / (DIM / CHANNELS);
  let block = n_group % (DIM / CHANNELS);
  let part = at % LANES;
  let j0 = block * CHANNELS + at / LANES;
  let j1 = j0 + TEAMS;
  var a0 = vec4<f32>(0.0);
  var a1 = vec4<f32>(0.0);
  var a2 = vec4<f32>(0.0);
  var a3 = vec4<f32>(0.0);
  var b0 = vec4<f32>(0.0);
  var b1 = vec4<f32>(0.0);
  var b2 = vec4<f32>(0.0);
  var b3 = vec4<f32>(0.0);
  // The state is on its way while the table is looked at.
  let guess = guess_of(entry);
  let again = chunked(guess.count) > 0u;
  if (again || !guess.fresh) {
    a0 = part_of_state(guess, again, head, j0, part);
    a1 = part_of_state(guess, again, head, j0, part + LANES);
    a2 = part_of_state(guess, again, head, j0, part + 2u * LANES);
    a3 = part_of_state(guess, again, head, j0, part + 3u * LANES);
    b0 = part_of_state(guess, again, head, j1, part);
    b1 = part_of_state(guess, again, head, j1, part + LANES);
    b2 = part_of_state(guess, again, head, j1, part + 2u * LANES);
    b3 = part_of_state(guess, again, head, j1, part + 3u * LANES);
  }
  let own = own_of(entry, lane, n_group == 0u);
  let first = chunked(own.count);
//#if !keeps
  if (first >= own.count) { return; }
//#end
  let scale = 1.0 / sqrt(f32(DIM));
  // A token's operands are loaded while the one before it is computed.
  var ahead = vec4<f32>(0.0);
//#if lanes=16u
  var ahead_more = vec4<f32>(0.0);
//#end
  var strength_ahead = vec2<f32>(0.0);
  for (var n = first; n <= own.count; n++) {
    let strength = strength_ahead;
    if (n > first) {
      workgroupBarrier();
      if (lane < STAGED) { staged[lane] = ahead; }
//#if lanes=16u
      if (lane + 128u < STAGED) { staged[lane + 128u] = ahead_more; }
//#end
      workgroupBarrier();
    }
    if (n < own.count) {
      ahead = piece(own, n, head, block, min(lane, STAGED - 1u));
//#if lanes=16u
      ahead_more = piece(own, n, head, block, min(lane + 128u, STAGED - 1u));
//#end
      strength_ahead = strengths(own, n, head);
    }
    if (n == first) { continue; }
    let q0 = part_of_key(0u, part);
    let q1 = part_of_key(0u, part + LANES);
    let q2 = part_of_key(0u, part + 2u * LANES);
    let q3 = part_of_key(0u, part + 3u * LANES);
    let k0 = part_of_key(DIM / 4u, part);
    let k1 = part_of_key(DIM / 4u, part + LANES);
    let k2 = part_of_key(DIM / 4u, part + 2u * LANES);
    let k3 = part_of_key(DIM / 4u, part + 3u * LANES);
    let offset = at / LANES;
    let v0 = staged[DIM / 2u + offset / 4u][offset % 4u];
    let v1 = staged[DIM / 2u + (offset + TEAMS) / 4u][(offset + TEAMS) % 4u];
    // Squares of k and q, their product, and what each channel holds for k and q.
    let kk = k0 * k0 + k1 * k1 + k2 * k2 + k3 * k3;
    let qq = q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3;
    let kq = k0 * q0 + k1 * q1 + k2 * q2 + k3 * q3;
    let ak = a0 * k0 + a1 * k1 + a2 * k2 + a3 * k3;
    let aq = a0 * q0 + a1 * q1 + a2 * q2 + a3 * q3;
    let bk = b0 * k0 + b1 * k1 + b2 * k2 + b3 * k3;
    let bq = b0 * q0 + b1 * q1 + b2 * q2 + b3 * q3;
    let products = team_sum(vec4<f32>(across(kk), across(qq), across(kq), 0.0), at);
    let sums = team_sum(vec4<f32>(across(ak), across(aq), across(bk), across(bq)), at);
    let k_unit = unit(products.x);
    let q_unit = unit(products.y) * scale;
    let decay = strength.x;
    let delta0 = (v0 - decay * k_unit * sums.x) * strength.y * k_unit;
    let delta1 = (v1 - decay * k_unit * sums.z) * strength.y * k_unit;
    if (part == 0u) {
      put_o(own, n - 1u, head, j0, (decay * sums.y + delta0 * products.z) * q_unit);
      put_o(own, n - 1u, head, j1, (decay * sums.w + delta1 * products.z) * q_unit);
    }
    a0 = decay * a0 + delta0 * k0;
    a1 = decay * a1 + delta0 * k1;
    a2 = decay * a2 + delta0 * k2;
    a3 = decay * a3 + delta0 * k3;
    b0 = decay * b0 + delta1 * k0;
    b1 = decay * b1 + delta1 * k1;
    b2 = decay * b2 + delta1 * k2;
    b3 = decay * b3 + delta1 * k3;
    let plane = own.count - n;
    if (plane < p.snapshots) {
      put_part(own, plane, head, j0, part, a0);
      put_part(own, plane, head, j0, part + LANES, a1);
      put_part(own, plane, head, j0, part + 2u * LANES, a2);
      put_part(own, plane, head, j0, part + 3u * LANES, a3);
      put_part(own, plane, head, j1, part, b0);
      put_part(own, plane, head, j1, part + LANES, b1);
      put_part(own, plane, head, j1, part + 2u * LANES, b2);
      put_part(own, plane, head, j1, part + 3u * LANES, b3);
    }
  }
//#if keeps
  keep_part(own, head, j0, part, a0);
  keep_part(own, head, j0, part + LANES, a1);
  keep_part(own, head, j0, part + 2u * LANES, a2);
  keep_part(own, head, j0, part + 3u * LANES, a3);
  keep_part(own, head, j1, part, b0);
  keep_part(own, head, j1, part + LANES, b1);
  keep_part(own, head, j1, part + 2u * LANES, b2);
  keep_part(own, head, j1, part + 3u * LANES, b3);
//#end
}
// The last vectors of an invocation may lie beyond the head's end.
fn part_of_state(own: Own, again: bool, head: u32, j: u32, i: u32) -> vec4<f32> {
  if (i < DIM / 4u) { return read_state(own, again, head, j, i); }
  return vec4<f32>(0.0);
}
fn put_part(own: Own, plane: u32, head: u32, j: u32, i: u32, v: vec4<f32>) {
  if (i < DIM / 4u) { write_state(own, plane, head, j, i, v); }
}
//#if keeps
fn keep_part(own: Own, head: u32, j: u32, i: u32, v: vec4<f32>) {
  if (i < DIM / 4u) { keep_state(own, head, j, i, v); }
}
//#end
fn part_of_key(start: u32, i: u32) -> vec4<f32> {
  if (i < DIM / 4u) { return staged[start + i]; }
  return vec4<f32>(0.0);
}
fn across(v: vec4<f32>) -> f32 { return (v.x + v.y) + (v.z + v.w); }
