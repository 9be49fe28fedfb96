// Finds the key of the k-th largest logit by its bytes, and where candidates of that key end. Pieces whose largest logit
// is below the k-th largest of all pieces' hold no candidate.
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> shared_word: u32;
var<workgroup> shared_rest: u32;
fn piece_key(row: u32, piece: u32) -> u32 { return $scratch[base(row) + 4u + 5u * piece]; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.x;
  let end = width(row);
  let k = select(candidates(row), 0u, is_greedy(row));
  // A key that a candidate must reach, by pieces.
  if (lane == 0u) {
    shared_word = 1u;
    shared_rest = k;
  }
  workgroupBarrier();
  for (var piece = lane; piece < pieces(); piece += 256u) {
    let own = piece_key(row, piece);
    var rank = 0u;
    for (var other = 0u; other < pieces(); other++) {
      let theirs = piece_key(row, other);
      rank += select(0u, 1u, theirs > own || (theirs == own && other < piece));
    }
    if (rank + 1u == k && own > 0u) { shared_word = own; }
  }
  let least = workgroupUniformLoad(&shared_word);
  var found = 0u;
  var rest = workgroupUniformLoad(&shared_rest);
  for (var byte = 0u; byte < 4u; byte++) {
    let shift = 24u - 8u * byte;
    atomicStore(&counts[lane], 0u);
    workgroupBarrier();
    if (k > 0u) {
      for (var piece = 0u; piece < pieces(); piece++) {
        if (piece_key(row, piece) >= least) {
          for (var i = piece * PIECE + lane; i < min(end, (piece + 1u) * PIECE); i += 256u) {
            let own = key(logits_at(vec4<u32>(i, row, 0u, 0u)));
            let same = byte == 0u || (own >> (shift + 8u)) == (found >> (shift + 8u));
            if (own >= least && same) { atomicAdd(&counts[(own >> shift) & 255u], 1u); }
          }
        }
      }
    }
    workgroupBarrier();
    if (lane == 0u) {
      var left = rest;
      var digit = 256u;
      loop {
        if (digit == 0u) { break; }
        digit--;
        let here = atomicLoad(&counts[digit]);
        if (here >= left) { break; }
        left -= here;
      }
      shared_word = found | (digit << shift);
      shared_rest = left;
    }
    found = workgroupUniformLoad(&shared_word);
    rest = workgroupUniformLoad(&shared_rest);
  }
  // The candidates of the last key: `rest` of the lowest indices. Fewer logits than k: all of them.
  var cut = 0u;
  for (var round = 0u; round < rest; round++) {
    var at = NONE;
    if (found > 0u) {
      for (var piece = 0u; piece < pieces(); piece++) {
        if (piece_key(row, piece) >= found) {
          for (var i = max(piece * PIECE, cut) + lane; i < min(end, (piece + 1u) * PIECE); i += 256u) {
            if (key(logits_at(vec4<u32>(i, row, 0u, 0u))) == found) { at = min(at, i); }
          }
        }
      }
    }
    let next = group_best(1u, at, lane).y;
    cut = select(next + 1u, cut, next == NONE);
  }
  if (lane == 0u) {
    $scratch[base(row)] = select(found, 0u, k == 0u);
    $scratch[base(row) + 1u] = select(cut, NONE, k == 0u);
  }
}
