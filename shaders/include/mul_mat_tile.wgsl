// Many columns of f32: a workgroup computes 64 rows of 64 columns, each of its 64 threads 8 rows of 8 columns. Weights and x
// pass through workgroup memory a run of 16 values at a time; a thread decodes one row and fetches one column.
//#include weight weight
//#port x vec4<f32>
//#port out f32
//#if chosen
//#include chosen_columns
//#else
//#include plane_columns
//#end
// [value][row] and [value][column]
var<workgroup> tile_w: array<vec4<f32>, 256>;
var<workgroup> tile_x: array<vec4<f32>, 256>;
// Units that make 16 values.
const UNITS: u32 = 4u / $weight_quads;
fn put_w(k: u32, t: u32, v: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) { tile_w[(k + i) * 16u + t / 4u][t % 4u] = v[i]; }
}
fn put_x(k: u32, t: u32, v: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) { tile_x[(k + i) * 16u + t / 4u][t % 4u] = v[i]; }
}
fn put_run(k: u32, t: u32, w: Quads$weight_quads) {
  put_w(k, t, w.a);
//#if !weight_quads=1
  put_w(k + 4u, t, w.b);
//#end
//#if weight_quads=4
  put_w(k + 8u, t, w.c);
  put_w(k + 12u, t, w.d);
//#end
}
// Four columns of four rows.
fn add_products(sums: ptr<function, array<vec4<f32>, 4>>, w: vec4<f32>, x: vec4<f32>) {
  (*sums)[0] = fma(w, x.xxxx, (*sums)[0]);
  (*sums)[1] = fma(w, x.yyyy, (*sums)[1]);
  (*sums)[2] = fma(w, x.zzzz, (*sums)[2]);
  (*sums)[3] = fma(w, x.wwww, (*sums)[3]);
}
fn store(row: u32, column: u32, columns: Columns, sums: array<vec4<f32>, 4>) {
  for (var c = 0u; c < 4u; c++) {
    if (column + c < columns.end) {
      let at = column_out(columns, column + c);
      for (var r = 0u; r < 4u; r++) {
        if (row + r < p.out.shape.x) { $out[at + row + r] = sums[c][r]; }
      }
    }
  }
}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
  let columns = columns_of(group, 64u, t);
  if (columns.first >= columns.end) { return; }
  let first_row = group.y * 64u;
  let row = columns_weight(columns, min(first_row + t, p.out.shape.x - 1u));
  let x = column_x(columns, min(columns.first + t, columns.end - 1u));
  var a: array<vec4<f32>, 4>;
  var b: array<vec4<f32>, 4>;
  var c: array<vec4<f32>, 4>;
  var d: array<vec4<f32>, 4>;
  let tx = t % 8u;
  let ty = t / 8u;
  let units = p.x.shape.x / (4u * $weight_quads * weight_runs);
  for (var u = 0u; u < units; u += UNITS) {
    for (var run = 0u; run < weight_runs; run++) {
      workgroupBarrier();
      for (var i = 0u; i < UNITS; i++) {
        let w = weight_fetch(row, u + i);
        let at = x + weight_place(u + i, run);
        let k = 4u * $weight_quads * i;
        put_run(k, t, scaled_quads$weight_quads(weight_run(w, u + i, run), weight_line(w, u + i, run)));
        for (var j = 0u; j < $weight_quads; j++) { put_x(k + 4u * j, t, $x[at + j]); }
      }
      workgroupBarrier();
      for (var k = 0u; k < 16u; k++) {
        let w0 = tile_w[k * 16u + tx];
        let w1 = tile_w[k * 16u + 8u + tx];
        let x0 = tile_x[k * 16u + ty];
        let x1 = tile_x[k * 16u + 8u + ty];
        add_products(&a, w0, x0);
        add_products(&b, w1, x0);
        add_products(&c, w0, x1);
        add_products(&d, w1, x1);
      }
    }
  }
  let r = first_row + 4u * tx;
  let n = columns.first + 4u * ty;
  store(r, n, columns, a);
  store(r + 32u, n, columns, b);
  store(r, n + 32u, columns, c);
  store(r + 32u, n + 32u, columns, d);
}
