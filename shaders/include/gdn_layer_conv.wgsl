// Four neighbouring channels of a segment's token n: convolution over its inputs and its history, then SiLU.
//#port x vec4<f32>
//#if taps=4
//#port conv vec4<f32>
//#port history vec4<f32>
// Four taps, everything aligned: all is loaded before anything is used, and no load waits for a branch.
fn convolved(own: Own, n: u32, c: u32) -> vec4<f32> {
  let pitch = p.x.stride.y / 16u;
  let row = (p.x.offset + (own.row + n) * p.x.stride.y) / 16u + c / 4u;
  let x0 = $x[row];
  let x1 = $x[row - min(n, 1u) * pitch];
  let x2 = $x[row - min(n, 2u) * pitch];
  let x3 = $x[row - min(n, 3u) * pitch];
  let factors = p.conv.offset / 16u + c;
  let a = $conv[factors];
  let b = $conv[factors + 1u];
  let d = $conv[factors + 2u];
  let e = $conv[factors + 3u];
  // Three old inputs a channel, the oldest first: twelve numbers.
  let line = (p.history.offset + own.slot * p.history.stride.z) / 16u + c / 4u * 3u;
  let f = $history[line];
  let g = $history[line + 1u];
  let h = $history[line + 2u];
  let none = vec4<f32>(0.0);
  let old0 = vec4<f32>(f.x, f.w, g.z, h.y);
  let old1 = vec4<f32>(f.y, g.x, g.w, h.z);
  let old2 = vec4<f32>(f.z, g.y, h.x, h.w);
  // A segment that starts some planes back passes over as many of the newest.
  let over = select(own.plane, 3u, own.fresh);
  let h0 = select(none, old0, over == 0u);
  let h1 = select(select(none, old0, over == 1u), old1, over == 0u);
  let h2 = select(select(select(none, old0, over == 2u), old1, over == 1u), old2, over == 0u);
  let t0 = select(select(select(h0, h1, n == 1u), h2, n == 2u), x3, n > 2u);
  let t1 = select(select(h1, h2, n == 1u), x2, n > 1u);
  let t2 = select(h2, x1, n > 0u);
  let sum = t0 * vec4<f32>(a.x, b.x, d.x, e.x) + t1 * vec4<f32>(a.y, b.y, d.y, e.y)
    + t2 * vec4<f32>(a.z, b.z, d.z, e.z) + x0 * vec4<f32>(a.w, b.w, d.w, e.w);
  return vec4<f32>(unary(0u, sum.x), unary(0u, sum.y), unary(0u, sum.z), unary(0u, sum.w));
}
//#else
//#port conv f32
//#port history f32
fn convolved(own: Own, n: u32, c: u32) -> vec4<f32> {
  let taps = p.conv.shape.x;
  let row = (p.x.offset + (own.row + n) * p.x.stride.y) / 16u + c / 4u;
  let line = p.history.stride.y / 4u;
  let reach = p.history.shape.x;
  let end = (p.history.offset + own.slot * p.history.stride.z) / 4u + c * line + reach;
  let next = p.conv.stride.y / 4u;
  let factors = p.conv.offset / 4u + c * next;
  var sum = vec4<f32>(0.0);
  for (var k = 0u; k < taps; k++) {
    let steps = taps - 1u - k;
    var value = vec4<f32>(0.0);
    if (steps <= n) {
      value = $x[row - steps * (p.x.stride.y / 16u)];
    } else {
      let back = history_back(own.fresh, own.plane, steps - n, reach);
      let at = end - back;
      if (back > 0u) {
        value = vec4<f32>($history[at], $history[at + line], $history[at + 2u * line], $history[at + 3u * line]);
      }
    }
    let at = factors + k;
    sum += value * vec4<f32>($conv[at], $conv[at + next], $conv[at + 2u * next], $conv[at + 3u * next]);
  }
  return vec4<f32>(unary(0u, sum.x), unary(0u, sum.y), unary(0u, sum.z), unary(0u, sum.w));
}
//#end
// The factor that brings a row of this square length to length one.
fn l2_factor(square: f32) -> f32 {
  return select(1.0 / sqrt(square + p.l2_eps), 1.0 / max(sqrt(square), p.l2_eps), p.form == 0u);
}
