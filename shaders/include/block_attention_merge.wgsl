// Puts chunks of a token's list of cells together: a workgroup computes 256 columns of one head's result for one token.
//#include grid
//#include attention_softmax
//#include attention_place
//#port out any
//#include block_chunks
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let width = p.out.shape.x;
  let tiles = (width + 255u) / 256u;
  let number = flat(group, groups);
  if (number >= tiles * rows(p.out.shape)) { return; }
  let i = unflat_row(number / tiles, p.out.shape);
  let found = find_place(i.z, lane, 256u, false);
  let column = (number % tiles) * 256u + lane;
  if (found.y == 0u || column >= width) { return; }
  var most = LOWEST;
  for (var c = 0u; c < p.chunks; c++) { most = higher(most, $scratch[sums_at(i, c) + width]); }
  var total = 0.0;
  var sum = 0.0;
  for (var c = 0u; c < p.chunks; c++) {
    let line = sums_at(i, c);
    let share = shrunk($scratch[line + width], most);
    sum += $scratch[line + column] * share;
    total += $scratch[line + width + 1u] * share;
  }
  // A row that sees no cell is zero.
  out_put(vec4<u32>(column, i.yzw), select(sum / total, 0.0, total == 0.0));
}
