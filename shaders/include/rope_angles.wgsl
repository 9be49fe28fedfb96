// Angles from integers. A pair turns by a fraction of a turn for each position; the product of a position and a fraction of
// 64 bits wraps around as the angle does, so no position is too large, and sine and cosine see at most an eighth of a turn.
//
// An entry of the host's table: the fraction's two words (high first), which of a token's positions the pair uses, and the
// bits of the factor on sine and cosine, NaN where there is no angle. Where divisors are bound, the words are the leading
// 64 bits of the fraction before division, and the third word holds from bit 8 on whether it is negative, and from bit
// 16 on the exponent, plus 1024.
//
// The including text defines head_width(), and head_tokens(): how many positions an axis has.
//#if has_divisors
//#scratch vec4<u32>
//#end
//#if prepare
// Divides the fractions, bit by bit: floats would lose the angles of far positions.
//#port divisors any
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let k = id.x;
  if (k >= p.pairs) { return; }
  let entry = p.table[k];
  var bits = 0x3f800000u;
  // A pair without a divisor has 1.
  if (p.first_pair + k < p.divisors.shape.x) { bits = bitcast<u32>(divisors_at(vec4<u32>(p.first_pair + k, 0u, 0u, 0u))); }
  let exponent = (bits >> 23u) & 255u;
  let fraction = (bits & 0x7fffffu) | select(0x800000u, 0u, exponent == 0u);
  var quotient = vec2<u32>();
  if (exponent < 255u && fraction > 0u) {
    let shift = i32(entry.z >> 16u) - 1024 - max(i32(exponent), 1) + 150;
    var rest = 0u;
    for (var step = 0; step < min(64 + shift, 640); step++) {
      let word = select(entry.y, entry.x, step < 32);
      let bit = select(0u, (word >> u32(31 - (step & 31))) & 1u, step < 64);
      rest = rest * 2u + bit;
      quotient = vec2<u32>((quotient.x << 1u) | (quotient.y >> 31u), quotient.y << 1u);
      if (rest >= fraction) {
        rest -= fraction;
        quotient.y |= 1u;
      }
    }
  }
  if (((entry.z >> 8u) & 1u) != (bits >> 31u)) {
    quotient = vec2<u32>(~quotient.x + select(0u, 1u, quotient.y == 0u), ~quotient.y + 1u);
  }
  let none = fraction == 0u || (exponent == 255u && (bits & 0x7fffffu) != 0u);
  $scratch[k] = vec4<u32>(quotient, entry.z & 255u, select(entry.w, 0x7fc00000u, none));
}
//#else
//#port positions any
fn high_word(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let left = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let right = (a & 0xffffu) * (b >> 16u) + (left & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u);
}
// Cosine and sine of pair k of this launch for a token, with their factor.
fn rotation(k: u32, token: u32) -> vec2<f32> {
//#if has_divisors
  let entry = $scratch[k];
//#else
  let entry = p.table[k];
//#end
  let position = positions_int(vec4<u32>(token + entry.z * head_tokens(), 0u, 0u, 0u));
  let n = bitcast<u32>(position);
  let phase = high_word(n, entry.y) + n * entry.x - select(0u, entry.y, position < 0);
  let quarter = (phase + 0x20000000u) >> 30u;
  // 2π / 2^32
  let r = f32(bitcast<i32>(phase - (quarter << 30u))) * 1.4629180792671596e-9;
  let z = r * r;
  let sine = r + r * z * (-0.16666654611 + z * (0.0083321608736 - z * 0.00019515295891));
  let cosine = 1.0 - 0.5 * z + z * z * (0.04166664568298827 + z * (-0.001388731625493765 + z * 0.00002443315711809948));
  let swapped = (quarter & 1u) == 1u;
  let c = select(cosine, sine, swapped);
  let s = select(sine, cosine, swapped);
  return vec2<f32>(select(c, -c, quarter == 1u || quarter == 2u), select(s, -s, quarter >= 2u)) * bitcast<f32>(entry.w);
}
// A pair's values turned for a token.
fn turned(v: vec2<f32>, k: u32, token: u32) -> vec2<f32> {
  let turn = rotation(k, token);
  return vec2<f32>(v.x * turn.x - v.y * turn.y, v.x * turn.y + v.y * turn.x);
}
// The two dimensions of pair k of this launch.
fn pair_of(k: u32) -> vec2<u32> {
  let n = p.first_pair + k;
  return select(vec2<u32>(n, n + p.dims / 2u), vec2<u32>(2u * n, 2u * n + 1u), p.kind == 0u);
}
// The dimension that an item behind this launch's pairs passes through.
fn other_of(k: u32) -> u32 { return head_width() - p.rest + k - p.pairs; }
//#end
