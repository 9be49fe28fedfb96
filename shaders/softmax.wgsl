// softmax(x * scale + mask) along rows. An excluded cell, whose mask or value is minus infinity, has the weight 0 by
// selection; a row without others gives zeros.
const LOWEST: f32 = -3.4028234e38;
fn is_excluded(v: f32) -> bool { return bitcast<u32>(v) == 0xff800000u; }
fn weight_of(v: f32, most: f32) -> f32 { return select(exp(v - most), 0.0, is_excluded(v)); }
// What weights are multiplied by: NaN where a score is NaN or infinite, whatever `exp` made of it.
fn share_of_sum(sum: f32, most: f32) -> f32 {
  let bits = bitcast<u32>(most);
  let share = select(1.0 / sum, 0.0, sum == 0.0);
  return select(share, bitcast<f32>(bits | 0x400000u), (bits & 0x7fffffffu) >= 0x7f800000u);
}
//#if rows
// In four-value groups: the first $held of each invocation stay in registers, so short rows are read once.
//#include rows
//#port x vec4<f32>
//#port mask vec4<f32>
//#port out vec4<f32>
fn scores(x: u32, mask: u32) -> vec4<f32> {
//#if has_mask
  let m = $mask[mask];
  return select($x[x] * p.scale + m, m, bitcast<vec4<u32>>(m) == vec4<u32>(0xff800000u));
//#else
  return $x[x] * p.scale;
//#end
}
fn most_of(v: vec4<f32>) -> f32 {
  let kept = select(v, vec4<f32>(LOWEST), bitcast<vec4<u32>>(v) == vec4<u32>(0xff800000u));
  return larger(larger(kept.x, kept.y), larger(kept.z, kept.w));
}
fn weights_of(v: vec4<f32>, most: f32) -> vec4<f32> {
  return vec4<f32>(weight_of(v.x, most), weight_of(v.y, most), weight_of(v.z, most), weight_of(v.w, most));
}
fn whole(s: Share) {
  let x = quad(p.x, s.row);
  let out = quad(p.out, s.row);
//#if has_mask
  let mask = quad(p.mask, s.row % p.mask.shape);
//#else
  let mask = 0u;
//#end
  var held: array<vec4<f32>, $held>;
  var most = LOWEST;
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) {
      held[j] = scores(x + k, mask + k);
      most = larger(most, most_of(held[j]));
    }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) {
    most = larger(most, most_of(scores(x + k, mask + k)));
  }
  most = row_max(most, s);
  var sum = 0.0;
  for (var j = 0u; j < $held; j++) {
    if (s.lane + j * $lanes < s.quads) {
      held[j] = weights_of(held[j], most);
      sum += dot(held[j], vec4<f32>(1.0));
    }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) {
    sum += dot(weights_of(scores(x + k, mask + k), most), vec4<f32>(1.0));
  }
  let factor = share_of_sum(row_sum(sum, s), most);
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) { $out[out + k] = held[j] * factor; }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) {
    $out[out + k] = weights_of(scores(x + k, mask + k), most) * factor;
  }
}
//#else
// Any layout, one workgroup a row.
//#include grid
//#include reduce
//#port x any
//#port mask any
//#port out any
fn score(i: vec4<u32>) -> f32 {
//#if has_mask
  let m = mask_at(repeated(i, p.mask.shape));
  return select(x_at(i) * p.scale + m, m, is_excluded(m));
//#else
  return x_at(i) * p.scale;
//#end
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.out.shape.x, row < rows(p.out.shape));
  var most = LOWEST;
  for (var k = lane; k < width; k += 256u) {
    let v = score(i + vec4<u32>(k, 0u, 0u, 0u));
    most = larger(most, select(v, LOWEST, is_excluded(v)));
  }
  most = group_max(most, lane);
  var sum = 0.0;
  for (var k = lane; k < width; k += 256u) { sum += weight_of(score(i + vec4<u32>(k, 0u, 0u, 0u)), most); }
  let factor = share_of_sum(group_sum(sum, lane), most);
  // In place: an invocation writes only what it alone reads.
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    out_put(at, weight_of(score(at), most) * factor);
  }
}
//#end
