// Columns of a tile: those from `first` on, below `end`, that meet one matrix of weights.
struct Columns { first: u32, end: u32, z: u32, w: u32 }
fn columns_of(group: vec3<u32>, tile: u32, t: u32) -> Columns {
  return Columns(group.x * tile, p.out.shape.y, group.z % p.out.shape.z, group.z / p.out.shape.z);
}
fn columns_weight(c: Columns, row: u32) -> Row {
  return weight_row_of(row, c.z % p.weight.shape.z, c.w % p.weight.shape.w);
}
// Where a column of x begins, in vectors.
fn column_x(c: Columns, n: u32) -> u32 {
  return (p.x.offset + n * p.x.stride.y + c.z * p.x.stride.z + c.w * p.x.stride.w) / 16u;
}
// Where its result begins, in numbers.
fn column_out(c: Columns, n: u32) -> u32 {
  return (p.out.offset + n * p.out.stride.y + c.z * p.out.stride.z + c.w * p.out.stride.w) / 4u;
}
