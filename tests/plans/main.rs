//! Plans: recorded hashes and counts, memory, and the graph of the failure that weft grew from.
