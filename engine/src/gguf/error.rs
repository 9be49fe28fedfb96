//! What can be wrong with a GGUF file.

use thiserror::Error;
use weft_core::graph::DType;

/// Why a GGUF file could not be read or written. Each message is one line and begins with the file.
#[expect(missing_docs, reason = "each variant's message names its fields")]
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GgufError {
    #[error("{file}: {source}")]
    Io { file: String, source: std::io::Error },

    #[error("{file}: not a GGUF file: it begins with \"{}\"", .got.escape_ascii())]
    Magic { file: String, got: [u8; 4] },
    #[error("{file}: GGUF version {version}; weft reads versions 2 and 3")]
    Version { file: String, version: u32 },
    #[error("{file}: a big-endian GGUF file; weft reads little-endian files")]
    BigEndian { file: String },
    #[error("{file}: ends at byte {size}, inside {what} ({wanted} bytes at byte {offset})")]
    Truncated { file: String, what: String, offset: u64, wanted: u64, size: u64 },
    #[error("{file}: {what} is {count}, but the rest of the file holds {most} at most")]
    Count { file: String, what: String, count: u64, most: u64 },
    #[error("{file}: {what} is {length} bytes long; the limit is {limit}")]
    TooLong { file: String, what: String, length: u64, limit: u64 },
    #[error("{file}: {what} at byte {offset} is not UTF-8")]
    Utf8 { file: String, what: String, offset: u64 },

    #[error("{file}: the key {key:?} occurs twice")]
    DuplicateKey { file: String, key: String },
    #[error("{file}: the value of {key:?} has the unknown type {id}")]
    ValueType { file: String, key: String, id: u32 },
    #[error("{file}: the value of {key:?} is an array of arrays")]
    NestedArray { file: String, key: String },
    #[error("{file}: general.alignment is {alignment}, not a power of two")]
    Alignment { file: String, alignment: u32 },
    #[error("{file}: the key {key:?} is missing")]
    MissingKey { file: String, key: String },
    #[error("{file}: the key {key:?} should be {want}, but is {got}")]
    WrongValue { file: String, key: String, want: &'static str, got: String },
    #[error("{file}: the array {key:?} holds {got} elements; {want} are needed")]
    ShortArray { file: String, key: String, want: u64, got: u64 },

    #[error("{file}: the tensor {tensor:?} occurs twice")]
    DuplicateTensor { file: String, tensor: String },
    #[error("{file}: the tensor {tensor:?} has {dims} dimensions; the limit is 4")]
    Dims { file: String, tensor: String, dims: u32 },
    #[error("{file}: dimension {dim} of the tensor {tensor:?} is {extent}")]
    Extent { file: String, tensor: String, dim: usize, extent: i64 },
    #[error("{file}: the tensor {tensor:?} has the unknown type {id}")]
    TensorType { file: String, tensor: String, id: u32 },
    #[error("{file}: rows of {row} values of the tensor {tensor:?} are not whole {dtype} blocks")]
    Ragged { file: String, tensor: String, dtype: DType, row: u64 },
    #[error("{file}: the tensor {tensor:?} of shape {shape:?} is too large to address")]
    TooLarge { file: String, tensor: String, shape: [u64; 4] },
    #[error("{file}: the offset {offset} of the tensor {tensor:?} is not a multiple of {alignment}")]
    Misaligned { file: String, tensor: String, offset: u64, alignment: u32 },
    #[error("{file}: the tensor {tensor:?} ends at byte {end}, the file at byte {size}")]
    PastEnd { file: String, tensor: String, end: u64, size: u64 },
    #[error("{file}: the tensors {tensor:?} and {other:?} overlap")]
    Overlap { file: String, tensor: String, other: String },
    #[error("{file}: the tensor {tensor:?} is missing")]
    MissingTensor { file: String, tensor: String },

    #[error("{file}: one of {count} split files, but not named like model-00001-of-{count:05}.gguf")]
    SplitName { file: String, count: u64 },
    #[error("{file}: {key} should be {want}, but is {got}")]
    Split { file: String, key: &'static str, want: u64, got: u64 },
    #[error("{file}: given {given} of {count} split files")]
    Shards { file: String, given: u64, count: u64 },

    #[error("{file}: wrote {got} bytes of the tensor {tensor:?}, which takes {want}")]
    Unwritten { file: String, tensor: String, want: u64, got: u64 },
    #[error("{file}: more bytes were written than the tensor table announces")]
    Excess { file: String },
}
