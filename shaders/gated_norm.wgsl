// Rows scaled by the root of their mean square, a weight and a gate.
//#include functions
//#if rows
// In four-value groups: the first $held of each invocation stay in registers, so short rows are read once. The factors
// by which the root will be multiplied are ready before it is.
//#include rows
//#port x vec4<f32>
//#port weight vec4<f32>
//#port gate vec4<f32>
//#port out vec4<f32>
fn whole(s: Share) {
  let x = quad(p.x, s.row);
  let gate = quad(p.gate, s.row);
  let out = quad(p.out, s.row);
  let weight = p.weight.offset / 16u;
  var held: array<vec4<f32>, $held>;
  var square = 0.0;
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) {
      let v = $x[x + k];
      square += dot(v, v);
      held[j] = v * $weight[weight + k] * gate_values(p.act, $gate[gate + k]);
    }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) { square += dot($x[x + k], $x[x + k]); }
  let factor = inverseSqrt(row_sum(square, s) / f32(p.out.shape.x) + p.eps);
  for (var j = 0u; j < $held; j++) {
    let k = s.lane + j * $lanes;
    if (k < s.quads) { $out[out + k] = held[j] * factor; }
  }
  for (var k = s.lane + $held * $lanes; k < s.quads; k += $lanes) {
    $out[out + k] = $x[x + k] * factor * $weight[weight + k] * gate_values(p.act, $gate[gate + k]);
  }
}
//#else
// Any layout, one workgroup a row.
//#include grid
//#include reduce
//#port x any
//#port weight any
//#port gate any
//#port out any
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = flat(group, groups);
  let i = unflat_row(row, p.out.shape);
  let width = select(0u, p.out.shape.x, row < rows(p.out.shape));
  var sum = 0.0;
  for (var k = lane; k < width; k += 256u) {
    let v = x_at(i + vec4<u32>(k, 0u, 0u, 0u));
    sum += v * v;
  }
  let factor = inverseSqrt(group_sum(sum, lane) / f32(p.out.shape.x) + p.eps);
  // In place: an invocation writes only what it alone reads.
  for (var k = lane; k < width; k += 256u) {
    let at = i + vec4<u32>(k, 0u, 0u, 0u);
    out_put(at, x_at(at) * factor * weight_at(vec4<u32>(k, 0u, 0u, 0u)) * opening(p.act, gate_at(at)));
  }
}
//#end
