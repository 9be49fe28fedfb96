// Many columns on matrix units: halves multiplied, sums in f32. A workgroup computes 128 rows of 128 columns, each of its eight
// subgroups of 32 threads 64 rows of 32 columns. Weights and x pass through workgroup memory 64 values at a time; a thread
// decodes half of one row's and half of one column's, and holds those of the next turn while the matrices are multiplied.
//#include weight weight
//#port out f32
//#include convert_halves
//#if chosen
//#include chosen_columns
//#port x vec4<f32>
alias X = vec4<f32>;
fn x_of(i: u32) -> X { return $x[i]; }
fn half_of(v: X) -> vec4<f16> { return halves(v); }
fn x_column(c: Columns, n: u32) -> u32 { return column_x(c, n); }
//#else
// A launch before this one has left x as halves: here each would be converted by every workgroup of its column.
//#include plane_columns
//#scratch vec4<f16>
alias X = vec4<f16>;
fn x_of(i: u32) -> X { return $scratch[i]; }
fn half_of(v: X) -> vec4<f16> { return v; }
fn x_column(c: Columns, n: u32) -> u32 { return n * (p.x.shape.x / 4u); }
//#end
// A run of x as long as those of the weight.
struct Xs {
  a: X,
//#if !weight_quads=1
  b: X,
//#end
//#if weight_quads=4
  c: X,
  d: X,
//#end
}
fn xs_of(at: u32) -> Xs {
//#if weight_quads=1
  return Xs(x_of(at));
//#end
//#if weight_quads=2
  return Xs(x_of(at), x_of(at + 1u));
//#end
//#if weight_quads=4
  return Xs(x_of(at), x_of(at + 1u), x_of(at + 2u), x_of(at + 3u));
//#end
}
// Rows of 64 halves and eight unused ones, which keep rows in different banks.
const PITCH: u32 = 18u;
var<workgroup> tile_w: array<vec4<f16>, 2304>;
var<workgroup> tile_x: array<vec4<f16>, 2304>;
var<workgroup> edge: array<f32, 2048>;
// A thread's share of a turn: 32 values of a row and of a column, as loaded, in two runs of 16, four of 8 or eight of 4.
const SLOTS: u32 = 8u / $weight_quads;
struct Share {
  w0: weight_Words, x0: Xs,
  w1: weight_Words, x1: Xs,
//#if !weight_quads=4
  w2: weight_Words, x2: Xs,
  w3: weight_Words, x3: Xs,
//#end
//#if weight_quads=1
  w4: weight_Words, x4: Xs,
  w5: weight_Words, x5: Xs,
  w6: weight_Words, x6: Xs,
  w7: weight_Words, x7: Xs,
//#end
}
fn unit_of(turn: u32, t: u32, slot: u32) -> u32 { return (turn * 2u + t % 2u) * (SLOTS / weight_runs) + slot / weight_runs; }
fn share_of(row: Row, x: u32, turn: u32, t: u32) -> Share {
  return Share(
    weight_fetch(row, unit_of(turn, t, 0u)), xs_of(x + weight_place(unit_of(turn, t, 0u), 0u % weight_runs)),
    weight_fetch(row, unit_of(turn, t, 1u)), xs_of(x + weight_place(unit_of(turn, t, 1u), 1u % weight_runs)),
//#if !weight_quads=4
    weight_fetch(row, unit_of(turn, t, 2u)), xs_of(x + weight_place(unit_of(turn, t, 2u), 2u % weight_runs)),
    weight_fetch(row, unit_of(turn, t, 3u)), xs_of(x + weight_place(unit_of(turn, t, 3u), 3u % weight_runs)),
//#end
//#if weight_quads=1
    weight_fetch(row, unit_of(turn, t, 4u)), xs_of(x + weight_place(unit_of(turn, t, 4u), 4u % weight_runs)),
    weight_fetch(row, unit_of(turn, t, 5u)), xs_of(x + weight_place(unit_of(turn, t, 5u), 5u % weight_runs)),
    weight_fetch(row, unit_of(turn, t, 6u)), xs_of(x + weight_place(unit_of(turn, t, 6u), 6u % weight_runs)),
    weight_fetch(row, unit_of(turn, t, 7u)), xs_of(x + weight_place(unit_of(turn, t, 7u), 7u % weight_runs)),
//#end
  );
}
fn put_slot(at: u32, w: Quads$weight_quads, x: Xs) {
  tile_w[at] = vec4<f16>(w.a);
  tile_x[at] = half_of(x.a);
//#if !weight_quads=1
  tile_w[at + 1u] = vec4<f16>(w.b);
  tile_x[at + 1u] = half_of(x.b);
//#end
//#if weight_quads=4
  tile_w[at + 2u] = vec4<f16>(w.c);
  tile_x[at + 2u] = half_of(x.c);
  tile_w[at + 3u] = vec4<f16>(w.d);
  tile_x[at + 3u] = half_of(x.d);
//#end
}
fn put_share(own: u32, s: Share, turn: u32, t: u32) {
  put_slot(own + 0u * $weight_quads, value_of(s.w0, unit_of(turn, t, 0u), 0u % weight_runs), s.x0);
  put_slot(own + 1u * $weight_quads, value_of(s.w1, unit_of(turn, t, 1u), 1u % weight_runs), s.x1);
//#if !weight_quads=4
  put_slot(own + 2u * $weight_quads, value_of(s.w2, unit_of(turn, t, 2u), 2u % weight_runs), s.x2);
  put_slot(own + 3u * $weight_quads, value_of(s.w3, unit_of(turn, t, 3u), 3u % weight_runs), s.x3);
//#end
//#if weight_quads=1
  put_slot(own + 4u * $weight_quads, value_of(s.w4, unit_of(turn, t, 4u), 4u % weight_runs), s.x4);
  put_slot(own + 5u * $weight_quads, value_of(s.w5, unit_of(turn, t, 5u), 5u % weight_runs), s.x5);
  put_slot(own + 6u * $weight_quads, value_of(s.w6, unit_of(turn, t, 6u), 6u % weight_runs), s.x6);
  put_slot(own + 7u * $weight_quads, value_of(s.w7, unit_of(turn, t, 7u), 7u % weight_runs), s.x7);
//#end
}
fn value_of(w: weight_Words, u: u32, run: u32) -> Quads$weight_quads {
  return scaled_quads$weight_quads(weight_run(w, u, run), weight_line(w, u, run));
}
fn store_square(square: u32, lane: u32, row: u32, column: u32, columns: Columns) {
  for (var i = lane; i < 256u; i += 32u) {
    let r = row + i % 16u;
    let n = column + i / 16u;
    if (r < p.out.shape.x && n < columns.end) { $out[column_out(columns, n) + r] = edge[square + i]; }
  }
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32,
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let columns = columns_of(group, 128u, t);
//#if chosen
  if (columns.first >= columns.end) { return; }
//#end
  let rows = p.out.shape.x;
  let first_row = group.y * 128u;
  let row = columns_weight(columns, min(first_row + t / 2u, rows - 1u));
  let x = x_column(columns, min(columns.first + t / 2u, columns.end - 1u));
  let own = (t / 2u) * PITCH + (t % 2u) * 8u;
  let row0 = wave / 4u * 64u;
  let column0 = wave % 4u * 32u;
  let pitch = PITCH;
  var c00 = coop_mat16x16<f32, C>();
  var c01 = coop_mat16x16<f32, C>();
  var c10 = coop_mat16x16<f32, C>();
  var c11 = coop_mat16x16<f32, C>();
  var c20 = coop_mat16x16<f32, C>();
  var c21 = coop_mat16x16<f32, C>();
  var c30 = coop_mat16x16<f32, C>();
  var c31 = coop_mat16x16<f32, C>();
  let turns = p.x.shape.x / 64u;
  var next = share_of(row, x, 0u, t);
  for (var turn = 0u; turn < turns; turn++) {
    workgroupBarrier();
    put_share(own, next, turn, t);
    workgroupBarrier();
    // The last turn loads the first again.
    next = share_of(row, x, select(0u, turn + 1u, turn + 1u < turns), t);
    for (var k = 0u; k < 16u; k += 4u) {
      let at_w0 = (row0 + 0u) * PITCH + k;
      let w0 = coopLoadT<coop_mat16x16<f16, A>>(&tile_w[at_w0], pitch);
      let at_w1 = (row0 + 16u) * PITCH + k;
      let w1 = coopLoadT<coop_mat16x16<f16, A>>(&tile_w[at_w1], pitch);
      let at_w2 = (row0 + 32u) * PITCH + k;
      let w2 = coopLoadT<coop_mat16x16<f16, A>>(&tile_w[at_w2], pitch);
      let at_w3 = (row0 + 48u) * PITCH + k;
      let w3 = coopLoadT<coop_mat16x16<f16, A>>(&tile_w[at_w3], pitch);
      let at_x0 = (column0 + 0u) * PITCH + k;
      let x0 = coopLoad<coop_mat16x16<f16, B>>(&tile_x[at_x0], pitch);
      c00 = coopMultiplyAdd(w0, x0, c00);
      c10 = coopMultiplyAdd(w1, x0, c10);
      c20 = coopMultiplyAdd(w2, x0, c20);
      c30 = coopMultiplyAdd(w3, x0, c30);
      let at_x1 = (column0 + 16u) * PITCH + k;
      let x1 = coopLoad<coop_mat16x16<f16, B>>(&tile_x[at_x1], pitch);
      c01 = coopMultiplyAdd(w0, x1, c01);
      c11 = coopMultiplyAdd(w1, x1, c11);
      c21 = coopMultiplyAdd(w2, x1, c21);
      c31 = coopMultiplyAdd(w3, x1, c31);
    }
  }
//#if !chosen
  // In terms that the compiler knows to be the same for all threads.
  if (group.y * 128u + 128u <= p.out.shape.x && group.x * 128u + 128u <= p.out.shape.y) {
    let out_pitch = p.out.stride.y / 4u;
    let out0 = column_out(columns, columns.first + column0 + 0u) + first_row + row0;
    coopStore(c00, &$out[out0], out_pitch);
    let out10 = out0 + 16u;
    coopStore(c10, &$out[out10], out_pitch);
    let out20 = out0 + 32u;
    coopStore(c20, &$out[out20], out_pitch);
    let out30 = out0 + 48u;
    coopStore(c30, &$out[out30], out_pitch);
    let out1 = column_out(columns, columns.first + column0 + 16u) + first_row + row0;
    coopStore(c01, &$out[out1], out_pitch);
    let out11 = out1 + 16u;
    coopStore(c11, &$out[out11], out_pitch);
    let out21 = out1 + 32u;
    coopStore(c21, &$out[out21], out_pitch);
    let out31 = out1 + 48u;
    coopStore(c31, &$out[out31], out_pitch);
    return;
  }
//#end
  // Matrix by matrix through workgroup memory: what lies behind the last row or column is left out.
  let square = wave * 256u;
  let side = 16u;
  workgroupBarrier();
  coopStore(c00, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 0u, columns.first + column0 + 0u, columns);
  workgroupBarrier();
  coopStore(c10, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 16u, columns.first + column0 + 0u, columns);
  workgroupBarrier();
  coopStore(c20, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 32u, columns.first + column0 + 0u, columns);
  workgroupBarrier();
  coopStore(c30, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 48u, columns.first + column0 + 0u, columns);
  workgroupBarrier();
  coopStore(c01, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 0u, columns.first + column0 + 16u, columns);
  workgroupBarrier();
  coopStore(c11, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 16u, columns.first + column0 + 16u, columns);
  workgroupBarrier();
  coopStore(c21, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 32u, columns.first + column0 + 16u, columns);
  workgroupBarrier();
  coopStore(c31, &edge[square], side);
  workgroupBarrier();
  store_square(square, lane, first_row + row0 + 48u, columns.first + column0 + 16u, columns);
}
