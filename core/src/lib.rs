//! The spine of weft: graphs of plain operations, kernel contracts, fusion rules, one driver that decides legality, plans,
//! and the interface that every backend meets. This crate knows no device, no file format and no model.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod backend;
pub mod bandwidth;
pub mod contract;
pub mod driver;
pub mod fault;
pub mod graph;
pub mod interpret;
pub mod kernels;
pub mod plan;
pub mod profile;
pub mod quant;
pub mod replay;
pub mod rules;
pub mod run;
pub mod segment;
pub mod self_test;
