fn @_store32(a: u32, v: u32) { @BUFFER@[a >> 2u] = v; }
