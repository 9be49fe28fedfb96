fn @_put(i: vec4<u32>, v: f32) { @_store32(@_byte(i), bitcast<u32>(v)); }
