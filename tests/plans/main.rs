//! Plans: recorded hashes and counts, memory, barriers, and the graph of the failure that weft grew from.
mod barriers;
mod coverage;
mod first_failure;
mod hashes;
mod launches;
mod memory;
mod recorded;
