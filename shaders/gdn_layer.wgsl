// A whole gated delta net between its projections.
//#include gdn_layer_any
