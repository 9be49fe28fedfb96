// One channel of a token: convolution over the segment's inputs and its history, then SiLU.
//#port x f32
//#port conv f32
//#port history f32
//#if taps
const TAPS: u32 = $taps;
//#end
fn convolved(own: Own, n: u32, c: u32) -> f32 {
//#if !taps
  let TAPS = p.conv.shape.x;
//#end
  let row = (p.x.offset + (own.row + n) * p.x.stride.y) / 4u + c;
  let past = (p.history.offset + own.slot * p.history.stride.z + c * p.history.stride.y) / 4u + p.history.shape.x + n;
  let factors = (p.conv.offset + c * p.conv.stride.y) / 4u;
  var sum = 0.0;
  for (var k = 0u; k < TAPS; k++) {
    let steps = TAPS - 1u - k;
    var value = 0.0;
    if (steps <= n) {
      value = $x[row - steps * (p.x.stride.y / 4u)];
    } else if (!own.fresh) {
      value = $history[past - steps];
    }
    sum += value * $conv[factors + k];
  }
  return unary(0u, sum);
}
// The factor that brings a row of this square length to length one.
fn l2_factor(square: f32) -> f32 {
  return select(1.0 / sqrt(square + p.l2_eps), 1.0 / max(sqrt(square), p.l2_eps), p.form == 0u);
}
