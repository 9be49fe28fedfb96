// Attention over chosen blocks of the cache: the general form of attention, over a list of cells, or over chunks of it.
//#if merge
//#include block_attention_merge
//#else
//#include attention_any
//#end
