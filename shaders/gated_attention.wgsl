// Attention whose result is gated: the forms of `flash_attention`, with the port `gate`.
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
