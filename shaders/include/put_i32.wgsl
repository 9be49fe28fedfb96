fn @_put_int(i: vec4<u32>, v: i32) { @_store32(@_byte(i), bitcast<u32>(v)); }
fn @_put(i: vec4<u32>, v: f32) { @_put_int(i, i32(v)); }
