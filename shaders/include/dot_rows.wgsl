// Eight, four or two rows (the flags `rows8`, `rows4`) of the weight `@` times $columns columns of x, by a team of $lanes threads
// that share the rows' units. The order in which terms are added depends on the team alone, neither on the number of rows
// nor on that of columns: each column becomes what it would be alone. The including text defines x_quad(i): vector i of x.
//#include weight @
//#include sums
fn @_x(at: u32) -> Quads$@_quads {
//#if @_quads=1
  return Quads1(x_quad(at));
//#end
//#if @_quads=2
  return Quads2(x_quad(at), x_quad(at + 1u));
//#end
//#if @_quads=4
  return Quads4(x_quad(at), x_quad(at + 1u), x_quad(at + 2u), x_quad(at + 3u));
//#end
}
fn @_dot_rows(first: u32, last: u32, z: u32, columns: array<u32, $columns>, units: u32, lane: u32) -> array<Sums, $columns> {
  let r0 = @_row_of(min(first, last), z, 0u);
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
  var sums: array<Sums, $columns>;
  for (var u = lane; u < units; u += $lanes) {
    // Loads of all rows stand before all arithmetic.
    let w0 = @_fetch(r0, u);
    let w1 = @_fetch(r1, u);
//#if rows4
    let w2 = @_fetch(r2, u);
    let w3 = @_fetch(r3, u);
//#end
//#if rows8
    let w4 = @_fetch(r4, u);
    let w5 = @_fetch(r5, u);
    let w6 = @_fetch(r6, u);
    let w7 = @_fetch(r7, u);
//#end
    for (var run = 0u; run < @_runs; run++) {
      let at = @_place(u, run);
      let q0 = @_run(w0, u, run);
      let l0 = @_line(w0, u, run);
      let q1 = @_run(w1, u, run);
      let l1 = @_line(w1, u, run);
//#if rows4
      let q2 = @_run(w2, u, run);
      let l2 = @_line(w2, u, run);
      let q3 = @_run(w3, u, run);
      let l3 = @_line(w3, u, run);
//#end
//#if rows8
      let q4 = @_run(w4, u, run);
      let l4 = @_line(w4, u, run);
      let q5 = @_run(w5, u, run);
      let l5 = @_line(w5, u, run);
      let q6 = @_run(w6, u, run);
      let l6 = @_line(w6, u, run);
      let q7 = @_run(w7, u, run);
      let l7 = @_line(w7, u, run);
//#end
      for (var c = 0u; c < $columns; c++) {
        let x = @_x(columns[c] + at);
        var total = 0.0;
        if (@_least) { total = sum_quads$@_quads(x); }
        sums[c].a.x = fma(-l0.y, total, fma(l0.x, dot_quads$@_quads(q0, x), sums[c].a.x));
        sums[c].a.y = fma(-l1.y, total, fma(l1.x, dot_quads$@_quads(q1, x), sums[c].a.y));
//#if rows4
        sums[c].a.z = fma(-l2.y, total, fma(l2.x, dot_quads$@_quads(q2, x), sums[c].a.z));
        sums[c].a.w = fma(-l3.y, total, fma(l3.x, dot_quads$@_quads(q3, x), sums[c].a.w));
//#end
//#if rows8
        sums[c].b.x = fma(-l4.y, total, fma(l4.x, dot_quads$@_quads(q4, x), sums[c].b.x));
        sums[c].b.y = fma(-l5.y, total, fma(l5.x, dot_quads$@_quads(q5, x), sums[c].b.y));
        sums[c].b.z = fma(-l6.y, total, fma(l6.x, dot_quads$@_quads(q6, x), sums[c].b.z));
        sums[c].b.w = fma(-l7.y, total, fma(l7.x, dot_quads$@_quads(q7, x), sums[c].b.w));
//#end
      }
    }
  }
  return sums;
}
