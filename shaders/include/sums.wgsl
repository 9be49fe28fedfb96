// Sums over teams of $lanes threads, $teams of them in a workgroup.
//#if rows8
struct Sums { a: vec4<f32>, b: vec4<f32> }
fn added(v: Sums, w: Sums) -> Sums { return Sums(v.a + w.a, v.b + w.b); }
//#else
struct Sums { a: vec4<f32> }
fn added(v: Sums, w: Sums) -> Sums { return Sums(v.a + w.a); }
//#end
//#if subgroups
// Where a thread is follows from its subgroup, and a subgroup, of at least 4 threads, lies in one team.
struct Thread { wave: u32, width: u32, spot: u32 }
fn number_of(t: Thread) -> u32 { return t.wave * t.width + t.spot; }
var<workgroup> team_part: array<Sums, $columns * $lanes * $teams / 4u>;
// The compiler's code for `subgroupAdd` is longer.
fn add_up(sums: array<Sums, $columns>, t: Thread) {
  for (var c = 0u; c < $columns; c++) {
    var sum = sums[c];
    for (var mask = 1u; mask < t.width; mask *= 2u) {
      sum.a += subgroupShuffleXor(sum.a, mask);
//#if rows8
      sum.b += subgroupShuffleXor(sum.b, mask);
//#end
    }
    if (t.spot == 0u) { team_part[c * ($lanes * $teams / 4u) + t.wave] = sum; }
  }
  workgroupBarrier();
}
fn team_sum(c: u32, team: u32, t: Thread) -> Sums {
  let waves = $lanes / t.width;
  let first = c * ($lanes * $teams / 4u) + team * waves;
  var sum = team_part[first];
  for (var i = 1u; i < waves; i++) { sum = added(sum, team_part[first + i]); }
  return sum;
}
//#else
struct Thread { number: u32 }
fn number_of(t: Thread) -> u32 { return t.number; }
var<workgroup> team_part: array<Sums, $lanes * $teams>;
var<workgroup> team_few: array<Sums, $columns * $teams * 16u>;
// In two steps: first 16 threads of each team add what lies 16 apart.
fn add_up(sums: array<Sums, $columns>, t: Thread) {
  let team = t.number / $lanes;
  let lane = t.number % $lanes;
  for (var c = 0u; c < $columns; c++) {
    workgroupBarrier();
    team_part[t.number] = sums[c];
    workgroupBarrier();
    if (lane < 16u) {
      var sum = team_part[t.number];
      for (var i = 16u; i < $lanes; i += 16u) { sum = added(sum, team_part[t.number + i]); }
      team_few[(c * $teams + team) * 16u + lane] = sum;
    }
  }
  workgroupBarrier();
}
fn team_sum(c: u32, team: u32, t: Thread) -> Sums {
  let first = (c * $teams + team) * 16u;
  var sum = team_few[first];
  for (var i = 1u; i < 16u; i++) { sum = added(sum, team_few[first + i]); }
  return sum;
}
//#end
