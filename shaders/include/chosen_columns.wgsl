// Columns of a tile: those from `first` on, below `end`, of the list in which the columns of an expert lie together. The
// scratch memory holds the number of tiles, from word 4 on a tile every four words, and the list.
//#scratch u32
struct Columns { first: u32, end: u32, expert: u32 }
var<workgroup> shared_columns: Columns;
fn columns_of(group: vec3<u32>, tile: u32, t: u32) -> Columns {
  if (t == 0u) {
    shared_columns = Columns(0u, 0u, 0u);
    if (group.x < $scratch[0]) {
      let at = 4u + 4u * group.x;
      // Wraps below the window to a large number.
      let expert = $scratch[at + 2u] - p.first;
      if (expert < p.weight.shape.z) { shared_columns = Columns($scratch[at], $scratch[at + 1u], expert); }
    }
  }
  return workgroupUniformLoad(&shared_columns);
}
fn columns_weight(c: Columns, row: u32) -> Row { return weight_row_of(row, c.expert, 0u); }
// Where a column of x begins, in vectors. A column is numbered slot first, then token.
fn column_x(c: Columns, n: u32) -> u32 {
  let pair = $scratch[p.list + n];
  let slot = pair % p.ids.shape.x;
  return (p.x.offset + slot % p.x.shape.y * p.x.stride.y + pair / p.ids.shape.x * p.x.stride.z) / 16u;
}
// Where its result begins, in numbers.
fn column_out(c: Columns, n: u32) -> u32 {
  let pair = $scratch[p.list + n];
  return (p.out.offset + pair % p.ids.shape.x * p.out.stride.y + pair / p.ids.shape.x * p.out.stride.z) / 4u;
}
