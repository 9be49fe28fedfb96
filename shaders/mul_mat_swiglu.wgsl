// act(gate * x) * (up * x) for few columns of f32.
//#if form=vec
//#include mul_mat_swiglu_vec
//#end
//#if form=bytes
//#include mul_mat_swiglu_bytes
//#end
