//! Graphs of plain operations over storages.
mod dtype;
pub use dtype::{DType, TYPES, TypeRow};
