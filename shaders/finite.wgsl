// Where each row first holds something else than a finite number. One workgroup a row.
//#include grid
//#include numbers
//#port x any
//#port out any
const NOWHERE: u32 = 0xffffffffu;
var<workgroup> first: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let inside = row < rows(p.out.shape);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.x.shape.x, inside);
  var found = NOWHERE;
  for (var k = lane; k < width; k += 256u) {
    let v = x_at(i + vec4<u32>(k, 0u, 0u, 0u));
    let passes = is_minus_infinity(v) & (p.minus_infinity == 1u);
    if ((is_nan(v) | is_infinite(v)) & !passes) {
      found = k;
      break;
    }
  }
  first[lane] = found;
  workgroupBarrier();
  for (var step = 128u; step > 0u; step >>= 1u) {
    if (lane < step) { first[lane] = min(first[lane], first[lane + step]); }
    workgroupBarrier();
  }
  if (inside && lane == 0u) { out_put_int(i, bitcast<i32>(first[0])); }
}
