// Columns of x as signed bytes in workgroup memory, for products with levels that are bytes too. Runs of 16 values share a
// scale; a value is scale * (256 * high + low), so that two planes of bytes hold 16 bits of it. A workgroup prepares $piece
// values of each column at a time. The including text defines x_quad(i), vector i of x, and x_column(c), the first of column c.
const RUNS: u32 = $piece / 16u;
const THREADS: u32 = $threads;
const MOST_LEVEL: f32 = 32512.0;
struct Bytes { high: vec4<u32>, low: vec4<u32>, line: vec2<f32> }
var<workgroup> x_high: array<vec4<u32>, $columns * RUNS>;
var<workgroup> x_low: array<vec4<u32>, $columns * RUNS>;
// Scale (x) and sum (y) of a run.
var<workgroup> x_lines: array<vec2<f32>, $columns * RUNS>;
fn bytes_in(v: vec4<u32>) -> u32 {
  return (v.x & 255u) | ((v.y & 255u) << 8u) | ((v.z & 255u) << 16u) | (v.w << 24u);
}
// The words of four neighbours, for the first of them.
fn of_four(v: u32) -> vec4<u32> {
  return vec4<u32>(v, subgroupShuffleXor(v, 1u), subgroupShuffleXor(v, 2u), subgroupShuffleXor(v, 3u));
}
// `count` vectors of each column from `first` on, by all threads. Four neighbours share a run.
fn prepare(first: u32, count: u32, t: u32) {
  for (var c = 0u; c < $columns; c++) {
    let column = x_column(c) + first;
    for (var base = 0u; base < count; base += THREADS) {
      let i = base + t;
      let x = x_quad(column + min(i, count - 1u));
      // As integers, floats without sign keep their order, and infinities and NaN are the largest.
      let sizes = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
      var most = max(max(sizes.x, sizes.y), max(sizes.z, sizes.w));
      most = max(most, subgroupShuffleXor(most, 1u));
      most = max(most, subgroupShuffleXor(most, 2u));
      let largest = bitcast<f32>(most);
      // Of values that small the inverse would be infinite; of those that are no numbers the sum is none.
      let finite = most < 0x7f800000u;
      let inverse = select(0.0, MOST_LEVEL / largest, most > 0x08000000u && finite);
      let scale = select(bitcast<f32>(most | 0x7fc00000u), largest * (1.0 / MOST_LEVEL), finite);
      // Rounded to integers, whose last 16 bits are those of the sum. Low bytes are signed: what they take away is carried.
      let level = bitcast<vec4<u32>>(fma(x, vec4<f32>(inverse), vec4<f32>(12582912.0)));
      let low = bytes_in(level);
      let high = bytes_in((level + vec4<u32>(128u)) >> vec4<u32>(8u));
      var sum = (dot4I8Packed(high, 0x01010101u) << 8u) + dot4I8Packed(low, 0x01010101u);
      sum += subgroupShuffleXor(sum, 1u);
      sum += subgroupShuffleXor(sum, 2u);
      let highs = of_four(high);
      let lows = of_four(low);
      if (i < count && t % 4u == 0u) {
        let run = c * RUNS + i / 4u;
        x_high[run] = highs;
        x_low[run] = lows;
        x_lines[run] = vec2<f32>(scale, scale * f32(sum));
      }
    }
  }
}
fn bytes_at(c: u32, run: u32) -> Bytes {
  let at = c * RUNS + run;
  return Bytes(x_high[at], x_low[at], x_lines[at]);
}
fn dot_plane(q: vec4<u32>, x: vec4<u32>) -> i32 {
  return dot4I8Packed(q.x, x.x) + dot4I8Packed(q.y, x.y) + dot4I8Packed(q.z, x.z) + dot4I8Packed(q.w, x.w);
}
fn dot_bytes(q: vec4<u32>, x: Bytes) -> f32 { return f32((dot_plane(q, x.high) << 8u) + dot_plane(q, x.low)); }
// The first unit of a thread at or behind `start`.
fn first_unit(start: u32, spot: u32, width: u32) -> u32 { return start + (spot + width - start % width) % width; }
// Sums of rows and columns.
struct Sums {
//#repeat c columns
//#repeat r rows
  c%cr%r: f32,
//#end
//#end
}
// Adds up over a subgroup. `width` stands alone: what it bounds must be seen to be the same for all threads.
fn added_up(own: Sums, width: u32) -> Sums {
  var sums = own;
  for (var mask = 1u; mask < width; mask *= 2u) {
//#repeat c columns
//#repeat r rows
    sums.c%cr%r += subgroupShuffleXor(sums.c%cr%r, mask);
//#end
//#end
  }
  return sums;
}
