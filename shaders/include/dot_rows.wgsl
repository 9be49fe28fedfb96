// Two, four or eight rows (flags `rows4`, `rows8`) of the weight `@` times one, two, four or eight columns of x (flags `columns2`,
// `columns4`, `columns8`), by a team of $lanes threads that share the rows' units. The order in which terms are added depends
// on the team alone, neither on the number of rows nor on that of columns: each column becomes what it would be alone.
// Rows and columns are written out, since arrays of them need not stay in registers. The including text defines x_quad(i):
// vector i of x.
//#include weight @
//#include sums
//#include x_quads @
// A unit of every row, as loaded.
struct @_Units {
  w0: @_Words,
  w1: @_Words,
//#if rows4
  w2: @_Words,
  w3: @_Words,
//#end
//#if rows8
  w4: @_Words,
  w5: @_Words,
  w6: @_Words,
  w7: @_Words,
//#end
}
// A run of every row: levels, and scale and least.
struct @_Runs {
  q0: Quads$@_quads, l0: vec2<f32>,
  q1: Quads$@_quads, l1: vec2<f32>,
//#if rows4
  q2: Quads$@_quads, l2: vec2<f32>,
  q3: Quads$@_quads, l3: vec2<f32>,
//#end
//#if rows8
  q4: Quads$@_quads, l4: vec2<f32>,
  q5: Quads$@_quads, l5: vec2<f32>,
  q6: Quads$@_quads, l6: vec2<f32>,
  q7: Quads$@_quads, l7: vec2<f32>,
//#end
}
fn @_decoded(w: @_Units, u: u32, run: u32) -> @_Runs {
  return @_Runs(
    @_run(w.w0, u, run), @_line(w.w0, u, run),
    @_run(w.w1, u, run), @_line(w.w1, u, run),
//#if rows4
    @_run(w.w2, u, run), @_line(w.w2, u, run),
    @_run(w.w3, u, run), @_line(w.w3, u, run),
//#end
//#if rows8
    @_run(w.w4, u, run), @_line(w.w4, u, run),
    @_run(w.w5, u, run), @_line(w.w5, u, run),
    @_run(w.w6, u, run), @_line(w.w6, u, run),
    @_run(w.w7, u, run), @_line(w.w7, u, run),
//#end
  );
}
// Sums with a run's products with the column of x at a place.
fn @_with(v: @_Runs, at: u32, before: Sums) -> Sums {
  let x = @_x(at);
  var total = 0.0;
  if (@_least) { total = sum_quads$@_quads(x); }
  var sums = before;
  sums.a.x = fma(-v.l0.y, total, fma(v.l0.x, dot_quads$@_quads(v.q0, x), sums.a.x));
  sums.a.y = fma(-v.l1.y, total, fma(v.l1.x, dot_quads$@_quads(v.q1, x), sums.a.y));
//#if rows4
  sums.a.z = fma(-v.l2.y, total, fma(v.l2.x, dot_quads$@_quads(v.q2, x), sums.a.z));
  sums.a.w = fma(-v.l3.y, total, fma(v.l3.x, dot_quads$@_quads(v.q3, x), sums.a.w));
//#end
//#if rows8
  sums.b.x = fma(-v.l4.y, total, fma(v.l4.x, dot_quads$@_quads(v.q4, x), sums.b.x));
  sums.b.y = fma(-v.l5.y, total, fma(v.l5.x, dot_quads$@_quads(v.q5, x), sums.b.y));
  sums.b.z = fma(-v.l6.y, total, fma(v.l6.x, dot_quads$@_quads(v.q6, x), sums.b.z));
  sums.b.w = fma(-v.l7.y, total, fma(v.l7.x, dot_quads$@_quads(v.q7, x), sums.b.w));
//#end
  return sums;
}
fn @_with_run(w: @_Units, u: u32, run: u32, columns: array<u32, $columns>, before: AllSums) -> AllSums {
  let at = @_place(u, run);
  let v = @_decoded(w, u, run);
  var sums = before;
  sums.c0 = @_with(v, columns[0] + at, sums.c0);
//#if columns2
  sums.c1 = @_with(v, columns[1] + at, sums.c1);
//#end
//#if columns4
  sums.c2 = @_with(v, columns[2] + at, sums.c2);
  sums.c3 = @_with(v, columns[3] + at, sums.c3);
//#end
//#if columns8
  sums.c4 = @_with(v, columns[4] + at, sums.c4);
  sums.c5 = @_with(v, columns[5] + at, sums.c5);
  sums.c6 = @_with(v, columns[6] + at, sums.c6);
  sums.c7 = @_with(v, columns[7] + at, sums.c7);
//#end
  return sums;
}
// Rows from `first` on, those behind `last` as that one.
fn @_dot_rows(first: u32, last: u32, z: u32, columns: array<u32, $columns>, units: u32, lane: u32) -> AllSums {
  let r0 = @_row_of(min(first + 0u, last), z, 0u);
  let r1 = @_row_of(min(first + 1u, last), z, 0u);
//#if rows4
  let r2 = @_row_of(min(first + 2u, last), z, 0u);
  let r3 = @_row_of(min(first + 3u, last), z, 0u);
//#end
//#if rows8
  let r4 = @_row_of(min(first + 4u, last), z, 0u);
  let r5 = @_row_of(min(first + 5u, last), z, 0u);
  let r6 = @_row_of(min(first + 6u, last), z, 0u);
  let r7 = @_row_of(min(first + 7u, last), z, 0u);
//#end
  var sums: AllSums;
  for (var u = lane; u < units; u += $lanes) {
    // All loads of weights stand before all arithmetic.
    let w = @_Units(
      @_fetch(r0, u),
      @_fetch(r1, u),
//#if rows4
      @_fetch(r2, u),
      @_fetch(r3, u),
//#end
//#if rows8
      @_fetch(r4, u),
      @_fetch(r5, u),
      @_fetch(r6, u),
      @_fetch(r7, u),
//#end
    );
    sums = @_with_run(w, u, 0u, columns, sums);
    if (@_runs == 2u) { sums = @_with_run(w, u, 1u, columns, sums); }
  }
  return sums;
}
