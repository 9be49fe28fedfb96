//! Reference tensors by name.

use crate::run::floats;
use safetensors::SafeTensors;
use std::path::Path;

/// A safetensors file, plain or compressed.
pub struct References(Vec<u8>);

impl References {
    /// Reads a file; one that ends in `.zst` is decompressed.
    pub fn read(path: &Path) -> Self {
        References(contents(path))
    }

    /// An f32 tensor.
    pub fn floats(&self, name: &str) -> Vec<f32> {
        self.maybe_floats(name).expect("a tensor of this name")
    }

    /// An f32 tensor that may be absent.
    pub fn maybe_floats(&self, name: &str) -> Option<Vec<f32>> {
        self.tensors().tensor(name).ok().map(|tensor| floats(tensor.data()))
    }

    /// An i32 tensor as token ids.
    pub fn ids(&self, name: &str) -> Vec<u32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).expect("a tensor of this name");
        tensor.data().as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.0).expect("a safetensors file")
    }
}

/// A file's bytes, decompressed if it ends in `.zst`.
pub fn contents(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.extension().is_some_and(|e| e == "zst") {
        zstd::decode_all(&bytes[..]).expect("zstd data")
    } else {
        bytes
    }
}
