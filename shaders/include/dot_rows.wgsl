// Four rows of weights times $columns columns of x. Teams of $lanes threads in a workgroup of 128 share the units of their rows.
// The order in which a result's terms are added depends on the team alone, not on the number of columns: each column
// becomes what it would be alone. The including text defines x_quad(i): four values of x at a multiple of 16 bytes.
//#include weights
fn dot_rows(r0: Row, r1: Row, r2: Row, r3: Row, columns: array<u32, $columns>, units: u32, lane: u32) -> array<vec4<f32>, $columns> {
  var sums: array<vec4<f32>, $columns>;
  for (var u = lane; u < units; u += $lanes) {
    let w0 = fetch(r0, u);
    let w1 = fetch(r1, u);
    let w2 = fetch(r2, u);
    let w3 = fetch(r3, u);
    for (var run = 0u; run < RUNS; run++) {
      let at = place(u, run);
      var part: array<vec4<f32>, $columns>;
      var total: array<f32, $columns>;
      for (var j = 0u; j < QUADS; j++) {
        let w = transpose(mat4x4<f32>(quad(w0, u, run, j), quad(w1, u, run, j), quad(w2, u, run, j), quad(w3, u, run, j)));
        for (var c = 0u; c < $columns; c++) {
          let v = x_quad(columns[c] + at + j);
          part[c] = fma(w[3], v.wwww, fma(w[2], v.zzzz, fma(w[1], v.yyyy, fma(w[0], v.xxxx, part[c]))));
          total[c] += (v.x + v.y) + (v.z + v.w);
        }
      }
      let l0 = line(w0, u, run);
      let l1 = line(w1, u, run);
      let l2 = line(w2, u, run);
      let l3 = line(w3, u, run);
      for (var c = 0u; c < $columns; c++) {
        sums[c] = fma(vec4<f32>(l0.x, l1.x, l2.x, l3.x), part[c], sums[c]);
        if (LEASTS) { sums[c] = fma(-vec4<f32>(l0.y, l1.y, l2.y, l3.y), vec4<f32>(total[c]), sums[c]); }
      }
    }
  }
  return sums;
}
//#if subgroups
// One partial sum a subgroup. A subgroup is at least 4 threads wide and lies in one team.
struct Thread { wave: u32, width: u32, spot: u32 }
var<workgroup> team_part: array<vec4<f32>, $columns * 32u>;
fn thread_number(t: Thread) -> u32 { return t.wave * t.width + t.spot; }
fn add_up(sums: array<vec4<f32>, $columns>, t: Thread) {
  for (var c = 0u; c < $columns; c++) {
    let sum = subgroupAdd(sums[c]);
    if (t.spot == 0u) { team_part[c * 32u + t.wave] = sum; }
  }
  workgroupBarrier();
}
fn team_sum(c: u32, team: u32, t: Thread) -> vec4<f32> {
  let waves = $lanes / t.width;
  var sum = team_part[c * 32u + team * waves];
  for (var i = 1u; i < waves; i++) { sum += team_part[c * 32u + team * waves + i]; }
  return sum;
}
//#else
// A tree in workgroup memory.
struct Thread { index: u32 }
var<workgroup> team_part: array<vec4<f32>, $columns * 128u>;
fn thread_number(t: Thread) -> u32 { return t.index; }
fn add_up(sums: array<vec4<f32>, $columns>, t: Thread) {
  for (var c = 0u; c < $columns; c++) { team_part[c * 128u + t.index] = sums[c]; }
  workgroupBarrier();
  for (var step = $lanes / 2u; step > 0u; step /= 2u) {
    if (t.index % $lanes < step) {
      for (var c = 0u; c < $columns; c++) { team_part[c * 128u + t.index] += team_part[c * 128u + t.index + step]; }
    }
    workgroupBarrier();
  }
}
fn team_sum(c: u32, team: u32, t: Thread) -> vec4<f32> { return team_part[c * 128u + team * $lanes]; }
//#end
