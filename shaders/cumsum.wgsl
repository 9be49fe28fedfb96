// The running sum along each row. One workgroup a row, in steps of 256 elements: a scan in workgroup memory on top of
// the sum of all steps before.
//#include grid
//#port x any
//#port out any
var<workgroup> line: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let inside = row < rows(p.out.shape);
  let i = unflat_row(row, p.out.shape);
  var before = 0.0;
  for (var start = 0u; start < p.out.shape.x; start += 256u) {
    let at = i + vec4<u32>(start + lane, 0u, 0u, 0u);
    let mine = inside && at.x < p.out.shape.x;
    var sum = 0.0;
    if (mine) { sum = x_at(at); }
    for (var step = 1u; step < 256u; step <<= 1u) {
      line[lane] = sum;
      workgroupBarrier();
      if (lane >= step) { sum += line[lane - step]; }
      // All have read before anybody writes again.
      workgroupBarrier();
    }
    line[lane] = sum;
    workgroupBarrier();
    if (mine) { out_put(at, before + sum); }
    before += line[255];
    workgroupBarrier();
  }
}
