// Attention over chosen blocks of the cache: the general form of attention, over a list of cells.
//#include attention_any
