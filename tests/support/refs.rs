//! Reference tensors by name.

use crate::run::floats;
use safetensors::SafeTensors;
use std::path::Path;

/// A safetensors file, plain or compressed.
pub struct References(Vec<u8>);

impl References {
    /// Reads a file as [`contents`] does.
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

/// A file's bytes. One that ends in `.zst` is decompressed; one that ends in `.planes.zst` also has the first bytes of all its
/// words of four before the second ones and so on, which lets f32 shrink further.
pub fn contents(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = path.to_string_lossy();
    if !name.ends_with(".zst") {
        return bytes;
    }
    let bytes = zstd::decode_all(&bytes[..]).expect("zstd data");
    if name.ends_with(".planes.zst") { in_words(&bytes) } else { bytes }
}

fn in_words(planes: &[u8]) -> Vec<u8> {
    let count = planes.len() / 4;
    let words = (0..count).flat_map(|word| [0, 1, 2, 3].map(|plane| planes[plane * count + word]));
    words.chain(planes[4 * count..].iter().copied()).collect()
}
