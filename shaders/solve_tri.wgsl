// Forward substitution, one invocation a column. Errors of early rows grow with every later one, so rows are kept and
// summed as pairs of floats whose sum is the value: `$scratch` holds them.
//#include grid
//#port a any
//#port b any
//#port out any
//#scratch vec2<f32>
// The same value, unknown to compilers that take (a + b) - a for b: the spare word is zero.
fn opaque(v: f32) -> f32 { return bitcast<f32>(bitcast<u32>(v) ^ p.out.spare); }
// A sum and what its rounding has lost so far.
fn plus(sum: vec2<f32>, v: f32) -> vec2<f32> {
  let s = opaque(sum.x + v);
  let back = opaque(s - sum.x);
  return vec2<f32>(s, sum.y + ((sum.x - (s - back)) + (v - back)));
}
// The upper twelve bits of a value, and the rest: products of such parts are exact, contracted with a sum or not.
fn halved(v: f32) -> vec2<f32> {
  let high = bitcast<f32>(bitcast<u32>(v) & 0xfffff000u);
  return vec2<f32>(high, v - high);
}
fn minus_product(sum: vec2<f32>, u: f32, v: f32) -> vec2<f32> {
  let a = halved(u);
  let b = halved(v);
  return plus(plus(plus(plus(sum, -a.x * b.x), -a.x * b.y), -a.y * b.x), -a.y * b.y);
}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = flat(group, groups) * 64u + lane;
  let columns = vec4<u32>(p.out.shape.x, 1u, p.out.shape.zw);
  let count = elements(columns);
  if (n >= count) { return; }
  let at = unflat(n, columns);
  for (var i = 0u; i < p.out.shape.y; i++) {
    var rest = vec2<f32>(b_at(vec4<u32>(at.x, i, at.zw)), 0.0);
    for (var j = 0u; j < i; j++) {
      let factor = a_at(vec4<u32>(j, i, at.zw));
      let known = $scratch[j * count + n];
      rest = minus_product(rest, factor, known.x);
      rest.y -= factor * known.y;
    }
    let divisor = a_at(vec4<u32>(i, i, at.zw));
    let first = (rest.x + rest.y) / divisor;
    let left = minus_product(rest, first, divisor);
    let second = (left.x + left.y) / divisor;
    let solved = opaque(first + second);
    $scratch[i * count + n] = vec2<f32>(solved, second - (solved - first));
    out_put(vec4<u32>(at.x, i, at.zw), solved);
  }
}
