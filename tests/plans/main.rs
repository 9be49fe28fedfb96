//! Plans: recorded hashes and counts, memory, barriers, graph files, and the graph of the failure that weft grew from.
mod barriers;
mod coverage;
mod first_failure;
mod graph_files;
mod hashes;
mod launches;
mod memory;
mod recorded;
mod records;
mod shipped;
