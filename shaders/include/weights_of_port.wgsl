// The port `weight` for `weights`: 16 bytes a load where the flag `wide` promises that they are aligned.
//#if wide
//#port weight vec4<u32>
fn w_quad(which: u32, a: u32) -> vec4<u32> { return $weight[a >> 4u]; }
fn w_word(which: u32, a: u32) -> u32 { return $weight[a >> 4u][(a >> 2u) & 3u]; }
fn w_half(which: u32, a: u32) -> u32 { return (w_word(which, a) >> (8u * (a & 2u))) & 0xffffu; }
//#else
//#port weight any
fn w_quad(which: u32, a: u32) -> vec4<u32> {
  return vec4<u32>(weight_load32(a), weight_load32(a + 4u), weight_load32(a + 8u), weight_load32(a + 12u));
}
fn w_word(which: u32, a: u32) -> u32 { return weight_load32(a); }
fn w_half(which: u32, a: u32) -> u32 { return weight_load16(a); }
//#end
//#include weights
fn row_of(row: u32, z: u32, w: u32) -> Row {
  let at = p.weight.offset + row * p.weight.stride.y + z * p.weight.stride.z + w * p.weight.stride.w;
  return Row(at, p.weight.block, p.weight.blocks, 0u);
}
