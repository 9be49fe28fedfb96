//! What the cross-backend tests share: devices, graphs run on random data, a comparator that NaN cannot pass, fixtures.

pub mod compare;
pub mod devices;
pub mod drafter;
pub mod faulty;
pub mod fixtures;
pub mod graphs;
pub mod hip;
pub mod loose;
pub mod naive;
pub mod refs;
pub mod run;
pub mod sources;
pub mod submissions;

pub use weft_core::replay::Random;
