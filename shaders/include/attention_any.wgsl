// Any type, width, layout and mask. A workgroup computes 256 columns of one head's result for one token; with `chunked`, what a
// chunk of the token's list of cells adds to it, which `block_attention_merge` puts together.
//#include grid
//#include reduce
//#include attention_softmax
//#include attention_place
//#include functions
//#port q any
//#port k any
//#port v any
//#port mask any
//#port sinks any
//#port gate any
//#port out any
//#if chunked
//#include block_chunks
//#end
var<workgroup> stage: array<f32, 256>;
// A hidden cell's mark among weights.
const HIDDEN = -1.0;
//#if has_blocks
//#port blocks any
var<workgroup> cells: array<u32, 256>;
// Mark of an entry without a cell.
const NOWHERE = 0xffffffffu;
// The cell of entry n of a token's list: those of its blocks, then those behind its last whole one.
fn listed(n: u32, token: u32, visible: u32) -> u32 {
  let whole = visible / p.block;
  let chosen = p.blocks.shape.x * p.block;
  if (n < chosen) {
    let block = bitcast<u32>(blocks_int(vec4<u32>(n / p.block, token, 0u, 0u)));
    return select(NOWHERE, block * p.block + n % p.block, block < whole);
  }
  let cell = whole * p.block + (n - chosen);
  return select(NOWHERE, cell, cell < visible);
}
//#end
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let tiles = (p.out.shape.x + 255u) / 256u;
//#if chunked
  let number = group.y;
  let begin = group.x * SPAN;
//#else
  let number = flat(group, groups);
  let begin = 0u;
//#end
  if (number >= tiles * rows(p.out.shape)) { return; }
  let i = unflat_row(number / tiles, p.out.shape);
//#if has_segments
  let found = find_place(i.z, lane, 256u, number == 0u);
  if (found.y == 0u) { return; }
  let slot = found.x;
  let visible = found.y - 1u;
//#else
  let slot = i.w;
  let visible = p.k.shape.y;
//#end
  let head = i.y / (p.q.shape.z / p.k.shape.z);
  let depth = p.q.shape.x;
  let column0 = (number % tiles) * 256u;
  // Lanes that have no column of their own share out the cells.
  let columns = min(p.out.shape.x - column0, 256u);
  let parts = 256u / columns;
  let part = lane / columns;
  let column = column0 + lane % columns;
  var most = LOWEST;
  var total = 0.0;
  var sum = 0.0;
//#if has_blocks
  let entries = p.blocks.shape.x * p.block + visible % p.block;
//#else
  let entries = visible;
//#end
//#if chunked
  let end = min(begin + SPAN, entries);
//#else
  let end = entries;
//#end
  for (var first = begin; first < end; first += 256u) {
//#if has_blocks
    let cell = select(NOWHERE, listed(first + lane, i.z, visible), first + lane < end);
    var shown = cell != NOWHERE;
//#else
    let cell = first + lane;
    var shown = cell < visible;
//#end
    var score = 0.0;
    for (var d0 = 0u; d0 < depth; d0 += 256u) {
      workgroupBarrier();
      if (d0 + lane < depth) { stage[lane] = q_at(vec4<u32>(d0 + lane, i.z, i.y, i.w)); }
      workgroupBarrier();
      if (shown) {
        // Short sums of their own: long rows keep their low bits.
        for (var d1 = d0; d1 < min(d0 + 256u, depth); d1 += 16u) {
          var few = 0.0;
          for (var d = d1; d < min(d1 + 16u, depth); d++) {
            few += stage[d - d0] * k_at(vec4<u32>(d, cell, head, slot));
          }
          score += few;
        }
      }
    }
    score *= p.scale;
//#if has_mask
    if (shown) {
      let bias = mask_at(vec4<u32>(cell, i.z, i.y % p.mask.shape.z, i.w % p.mask.shape.w));
      shown = !is_minus_infinity(bias);
      score += bias;
    }
//#end
    let next = higher(most, group_max(select(LOWEST, score, shown), lane));
    let shrink = shrunk(most, next);
    let share = select(0.0, weight(score - next), shown);
    total = total * shrink + group_sum(share, lane);
    sum *= shrink;
    most = next;
    workgroupBarrier();
    stage[lane] = select(HIDDEN, share, shown);
//#if has_blocks
    cells[lane] = cell;
//#end
    workgroupBarrier();
    if (part < parts) {
      for (var c = part; c < min(256u, end - first); c += parts) {
        // What a hidden cell holds cannot matter.
        if (stage[c] == HIDDEN) { continue; }
//#if has_blocks
        sum += stage[c] * v_at(vec4<u32>(column, cells[c], head, slot));
//#else
        sum += stage[c] * v_at(vec4<u32>(column, first + c, head, slot));
//#end
      }
    }
  }
//#if has_sinks
  let sink = sinks_at(vec4<u32>(i.y, 0u, 0u, 0u));
  if (!is_minus_infinity(sink)) {
    let next = higher(most, sink);
    let shrink = shrunk(most, next);
    sum *= shrink;
    total = total * shrink + weight(sink - next);
  }
//#end
  workgroupBarrier();
  stage[lane] = sum;
  workgroupBarrier();
  if (lane >= columns) { return; }
  for (var j = 1u; j < parts; j++) { sum += stage[j * columns + lane]; }
//#if chunked
  let line = sums_at(i, group.x);
  $scratch[line + column] = sum;
  if (column == 0u) {
    $scratch[line + p.out.shape.x] = most;
    $scratch[line + p.out.shape.x + 1u] = total;
  }
//#else
  let at = vec4<u32>(column, i.y, i.z, i.w);
  var result = select(sum / total, 0.0, total == 0.0);
//#if has_gate
  result *= opening(p.act, gate_at(at));
//#end
  out_put(at, result);
//#end
}
