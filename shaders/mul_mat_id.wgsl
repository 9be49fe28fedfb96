// A matrix of weights a (slot, token), chosen by index, times a column of activations.
//#if form=any
//#include mul_mat_id_any
//#end
//#if form=vec
//#include mul_mat_id_vec
//#end
//#if form=sort
//#include mul_mat_id_sort
//#end
//#if form=tile
//#include mul_mat_tile
//#end
//#if form=coop
//#include mul_mat_coop
//#end
