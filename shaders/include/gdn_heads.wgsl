// The delta rule of one kernel from operands in tensors, token by token. With segments states live in a pool. Without, the
// result holds the outputs of all tokens and then states, newest first; old states are taken by sequence, or were gathered to
// scratch memory before, since a gather may read what another sequence stores.
//#include gdn_step
//#port q f32
//#port k f32
//#port v f32
//#port alpha f32
//#port gate f32
//#port beta f32
//#port dt f32
//#port a f32
//#port out f32
//#port state_out vec4<f32>
//#if gathered
//#scratch vec4<f32>
//#else
//#port state vec4<f32>
//#end
fn heads() -> u32 { return p.v.shape.y; }
//#if has_segments
fn entries() -> u32 { return p.segments.shape.y; }
fn slots() -> u32 { return min(p.state.shape.w, p.state_out.shape.w) / p.snapshots; }
fn own_of(entry: u32, lane: u32, reports: bool) -> Own {
  return own_segment(entry, p.v.shape.z, slots(), lane, reports);
}
fn guess_of(entry: u32) -> Own { return guessed_segment(entry, slots()); }
// Row and sequence of a segment's token.
fn token(own: Own, n: u32) -> vec2<u32> { return vec2<u32>(own.row + n, 0u); }
//#else
fn entries() -> u32 { return p.v.shape.w; }
fn own_of(entry: u32, lane: u32, reports: bool) -> Own { return guess_of(entry); }
fn guess_of(entry: u32) -> Own { return Own(entry, 0u, p.v.shape.z, 0u, false); }
fn token(own: Own, n: u32) -> vec2<u32> { return vec2<u32>(n, own.slot); }
//#end
fn piece(own: Own, n: u32, head: u32, block: u32, e: u32) -> vec4<f32> {
  let t = token(own, n);
  if (e >= DIM / 2u) {
    let row = p.v.offset + head * p.v.stride.y + t.x * p.v.stride.z + t.y * p.v.stride.w;
    let at = row / 4u + block * CHANNELS + 4u * (e - DIM / 2u);
    return vec4<f32>($v[at], $v[at + 1u], $v[at + 2u], $v[at + 3u]);
  }
  let keys = p.q.shape.y;
  let key = select(head / (heads() / keys), head % keys, p.heads == 0u);
  let seq = t.y / (p.v.shape.w / p.q.shape.w);
  if (e < DIM / 4u) {
    let row = p.q.offset + key * p.q.stride.y + t.x * p.q.stride.z + seq * p.q.stride.w;
    let at = row / 4u + 4u * e;
    return vec4<f32>($q[at], $q[at + 1u], $q[at + 2u], $q[at + 3u]);
  }
  let row = p.k.offset + key * p.k.stride.y + t.x * p.k.stride.z + seq * p.k.stride.w;
  let at = row / 4u + 4u * (e - DIM / 4u);
  return vec4<f32>($k[at], $k[at + 1u], $k[at + 2u], $k[at + 3u]);
}
//#if has_segments
fn put_o(own: Own, n: u32, head: u32, j: u32, v: f32) {
  $out[(p.out.offset + head * p.out.stride.y + (own.row + n) * p.out.stride.z) / 4u + j] = v;
}
fn pool_index(own: Own, plane: u32, shape: Tensor, head: u32, j: u32, i: u32) -> u32 {
  let at = shape.offset + (own.slot * p.snapshots + plane) * shape.stride.w + head * shape.stride.z;
  return (at + j * shape.stride.y) / 16u + i;
}
fn read_state(own: Own, again: bool, head: u32, j: u32, i: u32) -> vec4<f32> {
  return $state[pool_index(own, min(own.plane, p.snapshots - 1u), p.state, head, j, i)];
}
fn write_state(own: Own, plane: u32, head: u32, j: u32, i: u32, v: vec4<f32>) {
  $state_out[pool_index(own, plane, p.state_out, head, j, i)] = v;
}
//#else
// A row of the result holds one value per head and channel; a head's row of a state lies inside one.
fn flat_index(e: u32) -> u32 {
  let width = heads() * DIM;
  return (p.out.offset + e / width * p.out.stride.y) / 4u + e % width;
}
fn put_o(own: Own, n: u32, head: u32, j: u32, v: f32) {
  $out[flat_index(((own.slot * p.v.shape.z + n) * heads() + head) * DIM + j)] = v;
}
fn read_state(own: Own, again: bool, head: u32, j: u32, i: u32) -> vec4<f32> {
//#if gathered
  return $scratch[((own.slot * heads() + head) * DIM + j) * (DIM / 4u) + i];
//#else
  let at = p.state.offset + own.slot * p.state.stride.w + head * p.state.stride.z + j * p.state.stride.y;
  return $state[at / 16u + i];
//#end
}
fn write_state(own: Own, plane: u32, head: u32, j: u32, i: u32, v: vec4<f32>) {
  let outputs = heads() * DIM * p.v.shape.z * p.v.shape.w;
  let row = ((plane * p.v.shape.w + own.slot) * heads() + head) * DIM + j;
  let at = flat_index(outputs + row * DIM) + 4u * i;
  $out[at] = v.x;
  $out[at + 1u] = v.y;
  $out[at + 2u] = v.z;
  $out[at + 3u] = v.w;
}
//#if keeps
fn keep_state(own: Own, head: u32, j: u32, i: u32, v: vec4<f32>) {
  let at = p.state_out.offset + own.slot * p.state_out.stride.w + head * p.state_out.stride.z;
  $state_out[(at + j * p.state_out.stride.y) / 16u + i] = v;
}
//#end
//#end
