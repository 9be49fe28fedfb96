// Residual streams read as one row, each value through the sigmoid of a product of its own, for one column of f32: the sum
// over streams of sigmoid(weight * silu(x)) * streams. A team of threads computes the same rows of every stream's weight.
//#include grid
//#include functions
//#port x vec4<f32>
//#port streams any
//#port out f32
fn x_quad(i: u32) -> vec4<f32> { return gate_values(0u, $x[i]); }
//#include dot_rows weight
@compute @workgroup_size($lanes * $teams)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
//#if subgroups
        @builtin(subgroup_id) wave: u32, @builtin(subgroup_size) width: u32, @builtin(subgroup_invocation_id) spot: u32) {
  let thread = Thread(wave * width + spot, wave, spot);
//#else
        @builtin(local_invocation_index) number: u32) {
  let thread = Thread(number);
  let width = 1u;
//#end
  let t = thread.number;
  let rows = p.out.shape.x;
  let first = flat(group, groups) * $teams * $rows;
  let own = first + t / $lanes * $rows;
  let at = array<u32, $columns>(p.x.offset / 16u);
  let units = p.x.shape.x / (4u * $weight_quads * weight_runs);
  // The rows of the team whose sums this thread reads.
  let row = first + t * $rows;
  let stores = t < $teams;
  var mixed: Sums;
  for (var s = 0u; s < p.weight.shape.z; s++) {
    // The sums of the stream before have been read.
    workgroupBarrier();
    add_up(weight_dot_rows(own, rows - 1u, s, at, units, t % $lanes), thread, width);
    if (stores) {
      let sum = team_sum(0u, t, width);
      mixed.a += gate_values(1u, sum.a) * stream_quad(row, s);
//#if rows8
      mixed.b += gate_values(1u, sum.b) * stream_quad(row + 4u, s);
//#end
    }
  }
  if (stores) {
    let out = p.out.offset / 4u + row;
    for (var r = 0u; r < min($rows, 4u); r++) {
      if (row + r < rows) { $out[out + r] = mixed.a[r]; }
    }
//#if rows8
    for (var r = 0u; r < 4u; r++) {
      if (row + 4u + r < rows) { $out[out + 4u + r] = mixed.b[r]; }
    }
//#end
  }
}
// Four values of a stream, those behind the last as that one.
fn stream_quad(row: u32, s: u32) -> vec4<f32> {
  let last = p.out.shape.x - 1u;
  return vec4<f32>(
    streams_at(vec4<u32>(min(row, last), s, 0u, 0u)), streams_at(vec4<u32>(min(row + 1u, last), s, 0u, 0u)),
    streams_at(vec4<u32>(min(row + 2u, last), s, 0u, 0u)), streams_at(vec4<u32>(min(row + 3u, last), s, 0u, 0u)));
}
