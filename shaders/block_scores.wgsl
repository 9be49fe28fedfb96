// Scores of a cache's blocks by one key each, an invocation an element of the result.
//#include grid
//#include gdn_segments
//#port q any
//#port keys any
//#port out any
fn product(head: u32, token: u32, block: u32, slot: u32) -> f32 {
  let depth = p.q.shape.x;
  var sum = 0.0;
  // Short sums of their own: long rows keep their low bits.
  for (var d0 = 0u; d0 < depth; d0 += 16u) {
    var few = 0.0;
    for (var d = d0; d < min(d0 + 16u, depth); d++) {
      few += q_at(vec4<u32>(d, head, token, 0u)) * keys_at(vec4<u32>(d, block, slot, 0u));
    }
    sum += few;
  }
  return sum;
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 256u + lane;
  if (n >= elements(p.out.shape)) { return; }
  let i = unflat(n, p.out.shape);
  if (!segments_hold(p.q.shape.z, p.keys.shape.z, n == 0u)) { return; }
  for (var s = 0u; s < p.segments.shape.y; s++) {
    let own = segment(s);
    if (i.y < own.row || i.y - own.row >= own.count) { continue; }
    let before = segment_word(s, 3u);
    // A position beyond every cache must not wrap around.
    let whole = select(p.out.shape.x, (before + (i.y - own.row) + 1u) / p.block, before < 0x80000000u);
    // No constant: a shader cannot say infinity.
    var hidden = 0xff800000u;
    var score = bitcast<f32>(hidden);
    if (i.x < whole) {
      score = 0.0;
      for (var h = 0u; h < p.q.shape.y; h++) {
        let part = product(h, i.y, i.x, own.slot);
        score += select(part, 0.0, part <= 0.0);
      }
    }
    out_put(i, score);
    return;
  }
}
