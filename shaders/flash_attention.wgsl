// Attention over cached keys and values: all forms lie in includes, which `gated_attention` shares.
//#if split
//#include attention_split
//#end
//#if merge
//#include attention_merge
//#end
//#if tile
//#include attention_tile
//#end
//#if matrix
//#include attention_matrix
//#end
//#if any
//#include attention_any
//#end
