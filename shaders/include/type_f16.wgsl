fn @_byte(i: vec4<u32>) -> u32 { return @_row(i) + i.x * p.@.stride.x; }
fn @_at(i: vec4<u32>) -> f32 { return half_value(@_load16(@_byte(i))); }
