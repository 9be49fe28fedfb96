// Merges the sums of a head's chunks: a workgroup some columns of a head and token.
//#include reduce
//#include attention_chunks
//#include functions
//#port gate vec4<f32>
//#port out vec4<f32>
const LANES = 256u;
const COLUMNS = $columns;
const TEAMS = LANES / COLUMNS;
const MOST_CHUNKS = 512u;
var<workgroup> shares: array<f32, MOST_CHUNKS>;
var<workgroup> sums: array<vec4<f32>, LANES>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let found = find_place(group.y, lane, LANES, false);
  if (found.y == 0u) { return; }
//#if tiled
  // Tokens of one tile have their chunks in common.
  let span = span_of(longest());
//#else
  let span = span_of(found.y - 1u);
//#end
  let used = (found.y - 1u + span - 1u) / span;
  let base = sums_at(group.y, group.x, 0u);
  var peak = LOWEST;
  for (var c = lane; c < used; c += LANES) { peak = higher(peak, $scratch[base + c * (QUADS + 1u) + QUADS].x); }
  let most = group_max(peak, lane);
  var part = 0.0;
  for (var c = lane; c < used; c += LANES) {
    let line = $scratch[base + c * (QUADS + 1u) + QUADS];
    let share = shrunk(line.x, most);
    shares[c] = share;
    part += share * line.y;
  }
  // Has barriers, so that all shares are seen.
  let total = group_sum(part, lane);
  let column = group.z * COLUMNS + lane % COLUMNS;
  var sum = vec4<f32>();
  for (var c = lane / COLUMNS; c < used; c += TEAMS) { sum += shares[c] * $scratch[base + c * (QUADS + 1u) + column]; }
  sums[lane] = sum;
  workgroupBarrier();
  if (lane >= COLUMNS) { return; }
  for (var i = 1u; i < TEAMS; i++) { sum += sums[i * COLUMNS + lane]; }
  var result = select(sum / total, vec4<f32>(), total == 0.0);
//#if has_gate
  let at = p.gate.offset + group.x * p.gate.stride.y + group.y * p.gate.stride.z;
  result *= gate_values(p.act, $gate[at / 16u + column]);
//#end
  $out[(p.out.offset + group.x * p.out.stride.y + group.y * p.out.stride.z) / 16u + column] = result;
}
