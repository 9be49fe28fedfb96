// Reports an index that only run time can refuse; the first report wins.
fn fault(port: u32, got: i32, limit: u32) {
  if (atomicCompareExchangeWeak(&$fault[0], 0u, p.index + 1u).exchanged) {
    atomicStore(&$fault[1], port);
    atomicStore(&$fault[2], bitcast<u32>(got));
    atomicStore(&$fault[3], limit);
  }
}
