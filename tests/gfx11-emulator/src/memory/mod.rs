//! Device memory, LDS and scratch, with a record of what was written where.

pub mod allocation;
pub mod atomic;
pub mod global;
pub mod lds;
pub mod lds_access;
pub mod map;
pub mod races;
pub mod scalar_load;
pub mod scratch;
pub mod transfer;
