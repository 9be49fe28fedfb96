// Convolution, SiLU and the norms of q and k for many tokens, to scratch memory, head by head: 16 lanes a block of
// channels as long as a head, eight tokens a workgroup.
//#include grid
//#include functions
//#include gdn_own
//#include gdn_layer_conv
//#scratch vec4<f32>
const DIM: u32 = $dim;
const PARTS: u32 = (DIM + 63u) / 64u;
var<workgroup> squares: array<f32, 128>;
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
  var own = Own(0u, 0u, 0u, 0u, false);
  if (inside) {
    let a = segment_of(t);
    own = Own(a.slot, a.row, a.count, a.plane, a.fresh);
  }
  var values: array<vec4<f32>, PARTS>;
  var sum = 0.0;
  for (var i = 0u; i < PARTS; i++) {
    let e = part + 16u * i;
    if (own.count > 0u && e < DIM / 4u) {
      values[i] = convolved(own, t - own.row, block * DIM + 4u * e);
      sum += dot(values[i], values[i]);
    }
  }
  squares[lane] = sum;
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < 16u; i++) { total += squares[lane / 16u * 16u + i]; }
  var factor = 1.0;
  if (block < 2u * p.key_heads) {
    factor = l2_factor(total);
  }
  for (var i = 0u; i < PARTS; i++) {
    let e = part + 16u * i;
    if (own.count > 0u && e < DIM / 4u) {
      $scratch[((block * p.x.shape.y + t) * DIM) / 4u + e] = values[i] * factor;
    }
  }
}
