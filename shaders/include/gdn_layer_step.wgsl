// The recurrence of a layer. Alone it convolves for itself, since a whole launch is dearer than a few channels more; after
// a launch that has convolved it reads the scratch memory.
//#include gdn_step
//#port state vec4<f32>
//#port alpha vec4<f32>
//#port beta vec4<f32>
//#port dt vec4<f32>
//#port a vec4<f32>
//#scratch f32
fn heads() -> u32 { return p.out.shape.y; }
fn entries() -> u32 { return p.segments.shape.y; }
fn own_of(entry: u32, lane: u32, reports: bool) -> Own {
  return own_segment(entry, p.x.shape.y, slots(), lane, reports);
}
fn guess_of(entry: u32) -> Own { return guessed_segment(entry, slots()); }
fn slots() -> u32 { return min(p.history.shape.z, p.state.shape.w / p.snapshots); }
// Where four of the staged values come from: a channel of the convolved row.
fn channel(head: u32, block: u32, e: u32) -> u32 {
  let key = select(head / (p.out.shape.y / p.key_heads), head % p.key_heads, p.heads == 0u);
  if (e < DIM / 4u) { return key * DIM + 4u * e; }
  if (e < DIM / 2u) { return (p.key_heads + key) * DIM + 4u * (e - DIM / 4u); }
  return (2u * p.key_heads + head) * DIM + block * CHANNELS + 4u * (e - DIM / 2u);
}
//#if mixed
fn piece(own: Own, n: u32, head: u32, block: u32, e: u32) -> vec4<f32> {
  let c = channel(head, block, e);
  let at = (c / DIM * p.x.shape.y + own.row + n) * DIM + c % DIM;
  return vec4<f32>($scratch[at], $scratch[at + 1u], $scratch[at + 2u], $scratch[at + 3u]);
}
fn unit(square: f32) -> f32 { return 1.0; }
//#else
//#include gdn_layer_conv
fn piece(own: Own, n: u32, head: u32, block: u32, e: u32) -> vec4<f32> {
  return convolved(own, n, channel(head, block, e));
}
fn unit(square: f32) -> f32 { return l2_factor(square); }
//#end
// Decay and write strength. The ports share bindings with those that are read four values at a time.
fn strengths(own: Own, n: u32, head: u32) -> vec2<f32> {
  let t = own.row + n;
  let at = (p.alpha.offset + head * p.alpha.stride.x + t * p.alpha.stride.y) / 4u;
  let at_beta = (p.beta.offset + head * p.beta.stride.x + t * p.beta.stride.y) / 4u;
  let at_dt = (p.dt.offset + head * p.dt.stride.x) / 4u;
  let at_a = (p.a.offset + head * p.a.stride.x) / 4u;
  let gate = $a[at_a / 4u][at_a % 4u] * softplus($alpha[at / 4u][at % 4u] + $dt[at_dt / 4u][at_dt % 4u]);
  return vec2<f32>(exp(gate), sigmoid($beta[at_beta / 4u][at_beta % 4u]));
}
fn put_o(own: Own, n: u32, head: u32, j: u32, v: f32) {
  $scratch[((p.o_block + head) * p.x.shape.y + own.row + n) * DIM + j] = v;
}
fn state_index(own: Own, plane: u32, head: u32, j: u32, i: u32) -> u32 {
  let at = p.state.offset + (own.slot * p.snapshots + plane) * p.state.stride.w + head * p.state.stride.z;
  return (at + j * p.state.stride.y) / 16u + i;
}
// After chunks the state goes on from the newest plane.
fn read_state(own: Own, again: bool, head: u32, j: u32, i: u32) -> vec4<f32> {
  return $state[state_index(own, select(min(own.plane, p.snapshots - 1u), 0u, again), head, j, i)];
}
fn write_state(own: Own, plane: u32, head: u32, j: u32, i: u32, v: vec4<f32>) {
  $state[state_index(own, plane, head, j, i)] = v;
}
