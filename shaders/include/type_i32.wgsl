fn @_byte(i: vec4<u32>) -> u32 { return @_row(i) + i.x * p.@.stride.x; }
fn @_int(i: vec4<u32>) -> i32 { return bitcast<i32>(@_load32(@_byte(i))); }
fn @_at(i: vec4<u32>) -> f32 { return f32(@_int(i)); }
