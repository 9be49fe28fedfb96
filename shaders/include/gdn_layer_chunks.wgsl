// A layer's operands for chunks: rows of the scratch memory, convolved and normalised, and raw projections.
//#scratch vec4<f32>
//#if stage=prepare
//#port alpha f32
//#port beta f32
//#port dt f32
//#port a f32
// Log decay and write strength.
fn strengths(head: u32, t: u32) -> vec2<f32> {
  let raw = $alpha[(p.alpha.offset + head * p.alpha.stride.x + t * p.alpha.stride.y) / 4u];
  let gate = $a[(p.a.offset + head * p.a.stride.x) / 4u]
    * softplus(raw + $dt[(p.dt.offset + head * p.dt.stride.x) / 4u]);
  return vec2<f32>(gate, sigmoid($beta[(p.beta.offset + head * p.beta.stride.x + t * p.beta.stride.y) / 4u]));
}
//#end
fn heads() -> u32 { return p.out.shape.y; }
fn key_heads() -> u32 { return p.key_heads; }
fn token_rows() -> u32 { return p.x.shape.y; }
fn slots() -> u32 { return min(p.history.shape.z, p.state.shape.w / p.snapshots); }
fn state_index(head: u32, plane: u32, j: u32, i: u32) -> u32 {
  return (p.state.offset + plane * p.state.stride.w + head * p.state.stride.z + j * p.state.stride.y) / 16u + i;
}
// Scratch memory holds the convolved rows head by head: tokens of a head lie close together.
fn mixed(block: u32, t: u32, i: u32) -> u32 { return ((block * p.x.shape.y + t) * DIM) / 4u + i; }
// The row of a chunk's token; of one that the chunk lacks that of its last.
fn token(place: vec2<u32>, t: u32) -> u32 { return place.x + min(t, place.y - 1u); }
fn q_of(place: vec2<u32>, head: u32, t: u32, i: u32) -> vec4<f32> {
  return $scratch[mixed(key_of(head), token(place, t), i)];
}
fn k_of(place: vec2<u32>, head: u32, t: u32, i: u32) -> vec4<f32> {
  return $scratch[mixed(key_heads() + key_of(head), token(place, t), i)];
}
fn v_of(place: vec2<u32>, head: u32, t: u32, j: u32) -> vec4<f32> {
  return $scratch[mixed(2u * key_heads() + head, token(place, t), j / 4u)];
}
// Outputs take the place of values.
fn put_o(head: u32, t: u32, j: u32, v: vec4<f32>) { $scratch[mixed(2u * key_heads() + head, t, j / 4u)] = v; }
