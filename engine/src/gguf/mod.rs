//! GGUF files, versions 2 and 3, little endian: reading over a memory mapping, and writing as a stream.
//!
//! [`Gguf`] is one model, in one file or several. Nothing in a file is trusted: every count, length, offset and product
//! is checked against the size of the file before it is used, and each fault is a [`GgufError`] that names the file.

mod cursor;
mod error;
mod header;
mod host_bytes;
mod metadata;
mod model;
mod split;
mod tensor;
mod value;
mod write;

pub use error::GgufError;
pub use host_bytes::HostBytes;
pub use metadata::{FromValue, Metadata, Strings};
pub use model::Gguf;
pub use tensor::TensorEntry;
pub use value::{Array, Value, ValueKind};
pub use write::{GgufBody, GgufWriter};
