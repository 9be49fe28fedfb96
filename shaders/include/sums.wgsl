// Sums over teams of $lanes threads, $teams of them in a workgroup.
//#if rows8
struct Sums { a: vec4<f32>, b: vec4<f32> }
fn added(v: Sums, w: Sums) -> Sums { return Sums(v.a + w.a, v.b + w.b); }
//#else
struct Sums { a: vec4<f32> }
fn added(v: Sums, w: Sums) -> Sums { return Sums(v.a + w.a); }
//#end
// Those of all columns.
struct AllSums {
  c0: Sums,
//#if columns2
  c1: Sums,
//#end
//#if columns4
  c2: Sums, c3: Sums,
//#end
//#if columns8
  c4: Sums, c5: Sums, c6: Sums, c7: Sums,
//#end
}
// Adds up over the teams. Then team_sum(c, team, width) is a team's sum of column c.
fn add_up(sums: AllSums, t: Thread, width: u32) {
  add_up_one(0u, sums.c0, t, width);
//#if columns2
  add_up_one(1u, sums.c1, t, width);
//#end
//#if columns4
  add_up_one(2u, sums.c2, t, width);
  add_up_one(3u, sums.c3, t, width);
//#end
//#if columns8
  add_up_one(4u, sums.c4, t, width);
  add_up_one(5u, sums.c5, t, width);
  add_up_one(6u, sums.c6, t, width);
  add_up_one(7u, sums.c7, t, width);
//#end
  workgroupBarrier();
}
//#if subgroups
// Where a thread is follows from its subgroup, and a subgroup, of at least 4 threads, lies in one team.
// `width` stands alone: what it bounds must be seen to be the same for all threads.
struct Thread { number: u32, wave: u32, spot: u32 }
var<workgroup> team_part: array<Sums, $columns * $lanes * $teams / 4u>;
// The compiler's code for `subgroupAdd` is longer.
fn add_up_one(c: u32, own: Sums, t: Thread, width: u32) {
  var sum = own;
  for (var mask = 1u; mask < width; mask *= 2u) {
    sum.a += subgroupShuffleXor(sum.a, mask);
//#if rows8
    sum.b += subgroupShuffleXor(sum.b, mask);
//#end
  }
  if (t.spot == 0u) { team_part[c * ($lanes * $teams / 4u) + t.wave] = sum; }
}
fn team_sum(c: u32, team: u32, width: u32) -> Sums {
  let waves = $lanes / width;
  let first = c * ($lanes * $teams / 4u) + team * waves;
  var sum = team_part[first];
  for (var i = 1u; i < waves; i++) { sum = added(sum, team_part[first + i]); }
  return sum;
}
//#else
struct Thread { number: u32 }
var<workgroup> team_part: array<Sums, $lanes * $teams>;
var<workgroup> team_few: array<Sums, $columns * $teams * 16u>;
// In two steps: first 16 threads of each team add what lies 16 apart.
fn add_up_one(c: u32, own: Sums, t: Thread, width: u32) {
  let team = t.number / $lanes;
  let lane = t.number % $lanes;
  workgroupBarrier();
  team_part[t.number] = own;
  workgroupBarrier();
  if (lane < 16u) {
    var sum = own;
    for (var i = 16u; i < $lanes; i += 16u) { sum = added(sum, team_part[t.number + i]); }
    team_few[(c * $teams + team) * 16u + lane] = sum;
  }
}
fn team_sum(c: u32, team: u32, width: u32) -> Sums {
  let first = (c * $teams + team) * 16u;
  var sum = team_few[first];
  for (var i = 1u; i < 16u; i++) { sum = added(sum, team_few[first + i]); }
  return sum;
}
//#end
