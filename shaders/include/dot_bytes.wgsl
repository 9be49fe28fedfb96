// $rows rows of the weight `@` times columns of x in bytes, by a subgroup whose threads share the rows' units: a thread takes
// those whose numbers leave its own place as remainder. So neither the number of rows nor that of columns changes a result.
//#include weight @
//#include bytes
struct @_Rows {
//#repeat r rows
  r%r: Row,
//#end
}
// A unit of every row, as loaded.
struct @_Units {
//#repeat r rows
  w%r: @_Words,
//#end
}
// Rows from `first` on, those behind `last` as that one.
fn @_rows_at(first: u32, last: u32, z: u32) -> @_Rows {
  return @_Rows(
//#repeat r rows
    @_row_of(min(first + %ru, last), z, 0u),
//#end
  );
}
fn @_fetched(rows: @_Rows, u: u32) -> @_Units {
  return @_Units(
//#repeat r rows
    @_fetch(rows.r%r, u),
//#end
  );
}
fn @_with_run(w: @_Units, u: u32, run: u32, begin: u32, before: Sums) -> Sums {
  let at = @_place(u, run) / 4u - begin;
  var sums = before;
//#repeat r rows
  let q%r = @_levels(w.w%r, u, run);
  let l%r = @_line(w.w%r, u, run);
//#end
//#repeat c columns
  let x%c = bytes_at(%cu, at);
//#repeat r rows
  sums.c%cr%r = fma(-l%r.y, x%c.line.y, fma(l%r.x * x%c.line.x, dot_bytes(q%r, x%c), sums.c%cr%r));
//#end
//#end
  return sums;
}
// Units in a number of values.
fn @_units(values: u32) -> u32 { return values / (16u * @_runs); }
// With the products of a piece that begins with run `begin`: units from `start` on, below `end`.
fn @_with_piece(rows: @_Rows, before: Sums, start: u32, end: u32, begin: u32, width: u32) -> Sums {
  var sums = before;
  for (var u = start; u < end; u += width) {
    let w = @_fetched(rows, u);
    sums = @_with_run(w, u, 0u, begin, sums);
    if (@_runs == 2u) { sums = @_with_run(w, u, 1u, begin, sums); }
  }
  return sums;
}
// The whole of the rows; the workgroup prepares x piece by piece.
fn @_dot_rows(first: u32, last: u32, z: u32, values: u32, spot: u32, width: u32, t: u32) -> Sums {
  let rows = @_rows_at(first, last, z);
  var sums: Sums;
  for (var begin = 0u; begin < values; begin += $piece) {
    let end = min(begin + $piece, values);
    if (begin > 0u) { workgroupBarrier(); }
    prepare(begin / 4u, (end - begin) / 4u, t);
    workgroupBarrier();
    let start = first_unit(@_units(begin), spot, width);
    sums = @_with_piece(rows, sums, start, @_units(end), begin / 16u, width);
  }
  return added_up(sums, width);
}
