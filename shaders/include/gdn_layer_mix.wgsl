// Convolution, SiLU and the norms of q and k for many tokens, to scratch memory [channel, token]: 16 lanes a block of
// channels as long as a head, eight tokens a workgroup.
//#include grid
//#include functions
//#include gdn_segments
//#port x vec4<f32>
//#port conv f32
//#port history f32
//#scratch vec4<f32>
const DIM: u32 = $dim;
const PARTS: u32 = (DIM + 63u) / 64u;
//#if taps
const TAPS: u32 = $taps;
//#end
var<workgroup> squares: array<f32, 128>;
fn convolved(own: Segment, t: u32, c: u32) -> vec4<f32> {
//#if !taps
  let TAPS = p.conv.shape.x;
//#end
  let n = t - own.row;
  let row = (p.x.offset + t * p.x.stride.y) / 16u + c / 4u;
  let past = (p.history.offset + own.slot * p.history.stride.z) / 4u + p.history.shape.x + n;
  let line = p.history.stride.y / 4u;
  let factors = (p.conv.offset + c * p.conv.stride.y) / 4u;
  let next = p.conv.stride.y / 4u;
  var sum = vec4<f32>(0.0);
  for (var k = 0u; k < TAPS; k++) {
    let steps = TAPS - 1u - k;
    var value = vec4<f32>(0.0);
    if (steps <= n) {
      value = $x[row - steps * (p.x.stride.y / 16u)];
    } else if (!own.fresh) {
      let at = past - steps + c * line;
      value = vec4<f32>($history[at], $history[at + line], $history[at + 2u * line], $history[at + 3u * line]);
    }
    let at = factors + k;
    sum += value * vec4<f32>($conv[at], $conv[at + next], $conv[at + 2u * next], $conv[at + 3u * next]);
  }
  return vec4<f32>(unary(0u, sum.x), unary(0u, sum.y), unary(0u, sum.z), unary(0u, sum.w));
}
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups);
  let blocks = p.x.shape.x / DIM;
  let block = n % blocks;
  let t = n / blocks * 8u + lane / 16u;
  let part = lane % 16u;
  let inside = t < p.x.shape.y
    && segments_hold(p.x.shape.y, min(p.history.shape.z, p.state.shape.w / p.snapshots), n == 0u && lane == 0u);
  var own = Segment(0u, 0u, 0u, false, 0u);
  if (inside) { own = segment_of(t); }
  var values: array<vec4<f32>, PARTS>;
  var sum = 0.0;
  for (var i = 0u; i < PARTS; i++) {
    let e = part + 16u * i;
    if (own.count > 0u && e < DIM / 4u) {
      values[i] = convolved(own, t, block * DIM + 4u * e);
      sum += dot(values[i], values[i]);
    }
  }
  squares[lane] = sum;
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < 16u; i++) { total += squares[lane / 16u * 16u + i]; }
  var factor = 1.0;
  if (block < 2u * p.key_heads) {
    factor = select(1.0 / sqrt(total + p.l2_eps), 1.0 / max(sqrt(total), p.l2_eps), p.form == 0u);
  }
  for (var i = 0u; i < PARTS; i++) {
    let e = part + 16u * i;
    if (own.count > 0u && e < DIM / 4u) {
      $scratch[(t * p.x.shape.x + block * DIM) / 4u + e] = values[i] * factor;
    }
  }
}
