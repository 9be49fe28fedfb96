//! Block types: exact decoding of stored tables, and the error of encoding.
mod rows;
mod tables;
