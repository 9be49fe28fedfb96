//! Why a graph is malformed.

use super::{DType, NodeId, StorageId, TensorId};
use thiserror::Error;

/// A malformed graph, or an operation that cannot be appended to one.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum GraphError {
    #[error("{op}: source `{port}` is missing")]
    MissingSource { op: &'static str, port: &'static str },
    #[error("{op}: {got} sources given, at most {most} are known")]
    TooManySources { op: &'static str, got: usize, most: usize },
    #[error("{op}: {got} results, {want} expected")]
    ResultCount { op: &'static str, got: usize, want: usize },
    #[error("{op}: `{port}` has extent {got} in dimension {dim}, {want} expected")]
    Extent { op: &'static str, port: &'static str, dim: usize, got: u64, want: u64 },
    #[error("{op}: extent {got} of `{port}` in dimension {dim} does not repeat to {whole}")]
    Repeat { op: &'static str, port: &'static str, dim: usize, got: u64, whole: u64 },
    #[error("{op}: `{port}` has type {got}; allowed: {allowed}")]
    Type { op: &'static str, port: &'static str, got: DType, allowed: &'static str },
    #[error("{op}: attribute `{attribute}` is out of range: {why}")]
    Attribute { op: &'static str, attribute: &'static str, why: &'static str },
    #[error(
        "{op}: a result of type {dtype} and shape {shape:?} is not a whole number of blocks or too large"
    )]
    Unpackable { op: &'static str, dtype: DType, shape: [u64; 4] },
    #[error(
        "a view of shape {shape:?} with strides {strides:?} at offset {offset} leaves its storage of {bytes} bytes"
    )]
    OutsideStorage { shape: [u64; 4], strides: [u64; 4], offset: u64, bytes: u64 },
    #[error("reshape of {from:?} to {to:?}: the number of elements differs, or the source is strided")]
    Reshape { from: [u64; 4], to: [u64; 4] },
    #[error("dimension {dim} is not between 0 and 3, or named twice")]
    Dimension { dim: usize },
    #[error("slice {start}+{count} of dimension {dim} exceeds its extent {extent}")]
    Slice { dim: usize, start: u64, count: u64, extent: u64 },
    #[error("storage name `{name}` is used twice")]
    DuplicateName { name: String },
    #[error("tensor {tensor:?} does not exist")]
    NoTensor { tensor: TensorId },
    #[error("tensor {tensor:?} names storage {storage:?}, which does not exist")]
    NoStorage { tensor: TensorId, storage: StorageId },
    #[error("tensor {tensor:?} sees version {version} of storage `{storage}`, which has {writes} writes")]
    NoVersion { tensor: TensorId, version: u32, storage: String, writes: u32 },
    #[error("nodes {first:?} and {second:?} both write version {version} of storage `{storage}`")]
    VersionTwice { first: NodeId, second: NodeId, version: u32, storage: String },
    #[error("node {node:?}: result `{port}` lies on other bytes than its target")]
    WrongTarget { node: NodeId, port: &'static str },
    #[error("node {node:?} writes to the weight or input `{storage}`")]
    ReadOnly { node: NodeId, storage: String },
    #[error("output `{name}` is overwritten by node {by:?} before the host can read it")]
    OutputOverwritten { name: String, by: NodeId },
    #[error("node {node:?} depends on its own result")]
    Cycle { node: NodeId },
    #[error("the graph has no outputs: name at least one, or write to a state")]
    NoOutputs,
}
