// What the experts of each token give, weighted and summed, that of an expert that all use, and the residual; and their sum
// scaled by the root of its mean square and a weight. In four-value groups.
//#include functions
//#include rows
//#port x vec4<f32>
//#port weights any
//#port extra vec4<f32>
//#port gate any
//#port residual vec4<f32>
//#port weight vec4<f32>
//#port sum vec4<f32>
//#port out vec4<f32>
fn whole(s: Share) {
  let token = s.row.y;
  let x = (p.x.offset + token * p.x.stride.z) / 16u;
  let residual = quad(p.residual, s.row);
  let sum = quad(p.sum, s.row);
  let out = quad(p.out, s.row);
  let weight = p.weight.offset / 16u;
//#if has_extra
  let extra = quad(p.extra, s.row);
  var opened = 0.0;
  if (s.quads > 0u) { opened = sigmoid(gate_at(vec4<u32>(0u, token, 0u, 0u))); }
//#end
  var square = 0.0;
  for (var k = s.lane; k < s.quads; k += $lanes) {
    var given = vec4<f32>();
    for (var slot = 0u; slot < p.x.shape.y; slot++) {
      given += weights_at(vec4<u32>(slot, token, 0u, 0u)) * $x[x + slot * (p.x.stride.y / 16u) + k];
    }
//#if has_extra
    given += opened * $extra[extra + k];
//#end
    let v = $residual[residual + k] + given;
    $sum[sum + k] = v;
    square += dot(v, v);
  }
  let factor = inverseSqrt(row_sum(square, s) / f32(p.out.shape.x) + p.eps);
  // Each invocation reads what itself wrote.
  for (var k = s.lane; k < s.quads; k += $lanes) { $out[out + k] = $sum[sum + k] * factor * $weight[weight + k]; }
}
