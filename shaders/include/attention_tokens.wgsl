// Rows of a tile: tokens times the query heads that share a key/value head.
//#include attention_chunks
//#include functions
//#port q vec4<f32>
//#port gate vec4<f32>
//#port out vec4<f32>
// Slot, first token, tokens and position of a segment.
var<workgroup> run: vec4<u32>;
var<workgroup> reach: u32;
// A row of a tile: token (x), head (y), and whether there is one (z).
fn row_of(r: u32, group: vec3<u32>) -> vec3<u32> {
  let sharing = p.q.shape.z / p.k.shape.z;
  let h = group.y % p.batches * p.tile_heads + r % p.tile_heads;
  let t = group.x * p.tile_tokens + r / p.tile_heads;
  let there = r < p.tile_tokens * p.tile_heads && t < p.q.shape.y && h < sharing;
  return vec3<u32>(t, group.y / p.batches * sharing + h, u32(there));
}
// A row's token; one that belongs to no segment where there is none.
fn token_of(r: u32, group: vec3<u32>) -> u32 {
  let row = row_of(r, group);
  return select(0xffffffffu, row.x, row.z == 1u);
}
// Where a row's query begins, in words of 16 bytes; rows that are none have another's.
fn query_at(r: u32, group: vec3<u32>) -> u32 {
  let row = row_of(r, group);
  let at = p.q.offset + min(row.x, p.q.shape.y - 1u) * p.q.stride.y + min(row.y, p.q.shape.z - 1u) * p.q.stride.z;
  return at / 16u;
}
// The cells of a chunk, the same for all lanes.
fn chunk_span(lane: u32) -> u32 {
//#if direct
  return 0xffffffffu;
//#else
  if (lane == 0u) { reach = longest(); }
  return span_of(workgroupUniformLoad(&reach));
//#end
}
// A segment for all lanes; without tokens where it does not hold.
fn load_run(s: u32, lane: u32, group: vec3<u32>) -> vec4<u32> {
  if (lane == 0u) {
    let a = segment(s);
    let holds = segment_holds(a, p.q.shape.y, p.k.shape.w, all(group == vec3<u32>()));
    run = vec4<u32>(a.slot, a.row, select(0u, a.count, holds), position_of(s));
  }
  return workgroupUniformLoad(&run);
}
// Writes four columns of a row's sums, or of its result where there is one chunk.
fn keep(row: vec3<u32>, chunk: u32, column: u32, sums: vec4<f32>, total: f32) {
//#if direct
  var result = select(sums / total, vec4<f32>(), total == 0.0);
//#if has_gate
  let gate = (p.gate.offset + row.y * p.gate.stride.y + row.x * p.gate.stride.z) / 16u;
  result *= gate_values(p.act, $gate[gate + column]);
//#end
  $out[(p.out.offset + row.y * p.out.stride.y + row.x * p.out.stride.z) / 16u + column] = result;
//#else
  $scratch[sums_at(row.x, row.y, chunk) + column] = sums;
//#end
}
