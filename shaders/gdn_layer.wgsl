// A whole gated delta net between its projections.
//#if !dim
//#include gdn_layer_any
//#end
//#if stage=convolve
//#include gdn_layer_mix
//#end
//#if stage=prepare
//#include gdn_prepare
//#include gdn_layer_chunks
//#end
//#if stage=scan
//#include gdn_scan
//#include gdn_layer_chunks
//#end
//#if stage=step
//#include gdn_layer_step
//#end
//#if stage=finish
//#include gdn_layer_finish
//#end
