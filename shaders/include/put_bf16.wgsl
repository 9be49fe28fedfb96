fn @_put(i: vec4<u32>, v: f32) { @_store16(@_byte(i), bfloat_bits(v)); }
