// The delta rule token by token with a piece of the state in registers: a workgroup of 128 takes 32 value channels of a head
// of a segment. The state is read and written once; each token costs one pass over it. The kernel's file says where
// operands and states lie: piece, strengths, unit, put_o, read_state, write_state.
//#include grid
//#include functions
//#include gdn_own
//#include gdn_team
const DIM: u32 = $dim;
const PARTS: u32 = DIM / (4u * LANES);
const TEAMS: u32 = 128u / LANES;
const COLUMNS: u32 = 32u / TEAMS;
// q, k and the values of these channels for one token.
const STAGED: u32 = DIM / 2u + 8u;
const LOADS: u32 = (STAGED + 127u) / 128u;
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
  let of_segment = heads() * (DIM / 32u);
  let entry = n_group / of_segment;
  if (entry >= entries()) { return; }
  let head = n_group % of_segment / (DIM / 32u);
  let block = n_group % (DIM / 32u);
  let own = own_of(entry, lane, n_group == 0u);
  let first = chunked(own.count);
//#if !keeps
  if (first >= own.count) { return; }
//#end
  let part = at % LANES;
  let column = block * 32u + at / LANES;
  var s: array<vec4<f32>, PARTS * COLUMNS>;
  for (var c = 0u; c < COLUMNS; c++) {
    for (var i = 0u; i < PARTS; i++) {
      if (own.fresh && first == 0u) {
        s[c * PARTS + i] = vec4<f32>(0.0);
      } else {
        s[c * PARTS + i] = read_state(own, first > 0u, head, column + c * TEAMS, part + i * LANES);
      }
    }
  }
  let scale = 1.0 / sqrt(f32(DIM));
  // A token's operands are loaded while the one before it is computed.
  var ahead: array<vec4<f32>, LOADS>;
  var strength_ahead = vec2<f32>(0.0);
  for (var n = first; n <= own.count; n++) {
    let strength = strength_ahead;
    if (n > first) {
      workgroupBarrier();
      for (var i = 0u; i < LOADS; i++) {
        if (lane + 128u * i < STAGED) { staged[lane + 128u * i] = ahead[i]; }
      }
      workgroupBarrier();
    }
    if (n < own.count) {
      for (var i = 0u; i < LOADS; i++) {
        if (lane + 128u * i < STAGED) { ahead[i] = piece(own, n, head, block, lane + 128u * i); }
      }
      strength_ahead = strengths(own, n, head);
    }
    if (n == first) { continue; }
    // Squares of k and q, their product, and of each column what it holds for k and q.
    var products = vec4<f32>(0.0);
    var sums = vec4<f32>(0.0);
    for (var i = 0u; i < PARTS; i++) {
      let q = staged[part + i * LANES];
      let k = staged[DIM / 4u + part + i * LANES];
      products += vec4<f32>(dot(k, k), dot(q, q), dot(k, q), 0.0);
      sums.x += dot(s[i], k);
      sums.y += dot(s[i], q);
//#if !lanes=4u
      sums.z += dot(s[PARTS + i], k);
      sums.w += dot(s[PARTS + i], q);
//#end
    }
    products = team_sum(products, at);
    sums = team_sum(sums, at);
    let k_unit = unit(products.x);
    let q_unit = unit(products.y) * scale;
    let plane = own.count - n;
    for (var c = 0u; c < COLUMNS; c++) {
      let j = column + c * TEAMS;
      let offset = j % 32u;
      let held = select(sums.xy, sums.zw, c == 1u);
      let v = staged[DIM / 2u + offset / 4u][offset % 4u];
      let delta = (v - strength.x * k_unit * held.x) * strength.y * k_unit;
      if (part == 0u) { put_o(own, n - 1u, head, j, (strength.x * held.y + delta * products.z) * q_unit); }
      for (var i = 0u; i < PARTS; i++) {
        let k = staged[DIM / 4u + part + i * LANES];
        s[c * PARTS + i] = strength.x * s[c * PARTS + i] + delta * k;
        if (plane < p.snapshots) { write_state(own, plane, head, j, part + i * LANES, s[c * PARTS + i]); }
      }
    }
  }
//#if keeps
  for (var c = 0u; c < COLUMNS; c++) {
    for (var i = 0u; i < PARTS; i++) { keep_state(own, head, column + c * TEAMS, part + i * LANES, s[c * PARTS + i]); }
  }
//#end
}
