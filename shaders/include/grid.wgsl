// Number of this workgroup in a grid folded into x and y.
fn flat(group: vec3<u32>, groups: vec3<u32>) -> u32 { return group.y * groups.x + group.x; }
// Four indices of an element or row in packed order.
fn unflat(n: u32, shape: vec4<u32>) -> vec4<u32> {
  let x = n % shape.x;
  let a = n / shape.x;
  let b = a / shape.y;
  return vec4<u32>(x, a % shape.y, b % shape.z, b / shape.z);
}
fn unflat_row(n: u32, shape: vec4<u32>) -> vec4<u32> {
  let a = n / shape.y;
  return vec4<u32>(0u, n % shape.y, a % shape.z, a / shape.z);
}
fn elements(shape: vec4<u32>) -> u32 { return shape.x * shape.y * shape.z * shape.w; }
fn rows(shape: vec4<u32>) -> u32 { return shape.y * shape.z * shape.w; }
// The index at which a repeated operand supplies an element of a larger one.
fn repeated(i: vec4<u32>, shape: vec4<u32>) -> vec4<u32> { return i % shape; }
