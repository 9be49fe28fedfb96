// A matrix of weights a (slot, token), chosen by index, times a column of activations.
//#if form=any
//#include mul_mat_id_any
//#end
