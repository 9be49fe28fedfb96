// Four elements of a row of a table, from the first on, which is a multiple of four.
fn table_block(i: vec4<u32>, values: u32) -> vec2<u32> {
//#if table_repacked
  return vec2<u32>(table_row(i), p.table.block + i.x / values);
//#else
  return vec2<u32>(table_row(i) + i.x / values * p.table.stride.x, 0u);
//#end
}
//#if table_type=F16
fn table_four(i: vec4<u32>) -> vec4<f32> {
  let a = table_row(i) + 2u * i.x;
  let words = vec2<u32>(table_load32(a), table_load32(a + 4u));
  return vec4<f32>(half_value(words.x & 0xffffu), half_value(words.x >> 16u),
                   half_value(words.y & 0xffffu), half_value(words.y >> 16u));
}
//#end
//#if table_type=Q8_0
fn table_four(i: vec4<u32>) -> vec4<f32> {
  let block = table_block(i, 32u);
  return vec4<f32>(unpack4xI8(table_b32(block, 2u + i.x % 32u))) * half_value(table_b16(block, 0u));
}
//#end
//#if table_type=Q4_K
fn table_four(i: vec4<u32>) -> vec4<f32> {
  let block = table_block(i, 256u);
  let k = i.x % 256u;
  let levels = (table_b32(block, 16u + (k >> 6u) * 32u + (k & 31u)) >> (4u * ((k >> 5u) & 1u))) & 0x0f0f0f0fu;
  let line = table_group(block, k >> 5u);
  return line.x * vec4<f32>(unpack4xU8(levels)) - line.y;
}
//#end
