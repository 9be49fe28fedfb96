// A matrix of weights times columns of activations.
//#if form=any
//#include mul_mat_any
//#end
//#if form=vec
//#include mul_mat_vec
//#end
//#if form=bytes
//#include mul_mat_bytes
//#end
//#if form=tile
//#include mul_mat_tile
//#end
//#if form=halves
//#include mul_mat_halves
//#end
//#if form=coop
//#include mul_mat_coop
//#end
