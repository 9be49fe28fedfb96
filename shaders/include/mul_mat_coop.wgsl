// Many columns on matrix units: halves multiplied, sums in f32. A workgroup computes 128 rows of 128 columns, each of its eight
// subgroups of 32 threads 64 rows of 32 columns. Weights and x pass through workgroup memory 64 values at a time; a thread
// decodes half of one row's and half of one column's, and holds those of the next turn while the matrices are multiplied.
//#include weight weight
//#port x vec4<f32>
//#port out f32
//#if chosen
//#include chosen_columns
//#else
//#include plane_columns
//#end
const enable_f16 = true;
// Rows of 64 halves and eight unused ones, which keep rows in different banks.
const PITCH: u32 = 18u;
var<workgroup> tile_w: array<vec4<f16>, 2304>;
var<workgroup> tile_x: array<vec4<f16>, 2304>;
var<workgroup> edge: array<f32, 2048>;
// Units that make 32 values.
const UNITS: u32 = 8u / ($weight_quads * weight_runs);
// Halves end at 65504; infinities and NaN stay what they are.
fn halves(v: vec4<f32>) -> vec4<f16> {
  return vec4<f16>(select(v, clamp(v, vec4<f32>(-65504.0), vec4<f32>(65504.0)), abs(v) < vec4<f32>(3.4e38)));
}
fn put_run(at: u32, w: Quads$weight_quads) {
  tile_w[at] = vec4<f16>(w.a);
//#if !weight_quads=1
  tile_w[at + 1u] = vec4<f16>(w.b);
//#end
//#if weight_quads=4
  tile_w[at + 2u] = vec4<f16>(w.c);
  tile_w[at + 3u] = vec4<f16>(w.d);
//#end
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
  if (columns.first >= columns.end) { return; }
  let rows = p.out.shape.x;
  let first_row = group.y * 128u;
  let row = columns_weight(columns, min(first_row + t / 2u, rows - 1u));
  let x = column_x(columns, min(columns.first + t / 2u, columns.end - 1u));
  let own = (t / 2u) * PITCH + (t % 2u) * 8u;
  let units = p.x.shape.x / (4u * $weight_quads * weight_runs);
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
  var next: array<weight_Words, UNITS>;
  var next_x: array<vec4<f32>, 8>;
  for (var i = 0u; i < UNITS; i++) {
    let u = t % 2u * UNITS + i;
    next[i] = weight_fetch(row, u);
    for (var run = 0u; run < weight_runs; run++) {
      for (var j = 0u; j < $weight_quads; j++) {
        next_x[(i * weight_runs + run) * $weight_quads + j] = $x[x + weight_place(u, run) + j];
      }
    }
  }
  for (var turn = 0u; turn < units; turn += 2u * UNITS) {
    workgroupBarrier();
    for (var i = 0u; i < UNITS; i++) {
      let u = turn + t % 2u * UNITS + i;
      let w = next[i];
      for (var run = 0u; run < weight_runs; run++) {
        let at = own + (i * weight_runs + run) * $weight_quads;
        put_run(at, scaled_quads$weight_quads(weight_run(w, u, run), weight_line(w, u, run)));
      }
    }
    for (var i = 0u; i < 8u; i++) { tile_x[own + i] = halves(next_x[i]); }
    workgroupBarrier();
    // The last turn loads the first again.
    let ahead = select(0u, turn + 2u * UNITS, turn + 2u * UNITS < units);
    for (var i = 0u; i < UNITS; i++) {
      let u = ahead + t % 2u * UNITS + i;
      next[i] = weight_fetch(row, u);
      for (var run = 0u; run < weight_runs; run++) {
        for (var j = 0u; j < $weight_quads; j++) {
          next_x[(i * weight_runs + run) * $weight_quads + j] = $x[x + weight_place(u, run) + j];
        }
      }
    }
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
  if (first_row + 128u <= rows && columns.first + 128u <= columns.end) {
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
