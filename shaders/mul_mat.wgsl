// A matrix of weights times columns of activations.
//#if form=any
//#include mul_mat_any
//#end
