//! Files of small models that can be changed and written anew.

use std::collections::BTreeMap;
use std::sync::Arc;
use weft::gguf::{Gguf, GgufWriter, Value};
use weft::models::{Batch, CacheTypes, Description, ModelError};
use weft_core::graph::DType;
use weft_tests::fixtures::path;
use weft_tests::refs::contents;

/// A file of f32 tensors that can be changed.
#[derive(Clone)]
pub struct File {
    pub keys: Vec<(String, Value)>,
    /// Extents and bytes by name.
    pub tensors: BTreeMap<String, (Vec<u64>, Vec<u8>)>,
}

impl File {
    /// The small model of this name.
    pub fn read(name: &str) -> Self {
        let file = path(&format!("models/{name}-f32.gguf.planes.zst"));
        let gguf = Gguf::from_bytes(name, contents(&file)).unwrap();
        let keys = gguf.metadata().iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        let tensor = |entry: &weft::gguf::TensorEntry| {
            let bytes = gguf.tensor_bytes(entry).unwrap().as_ref().to_vec();
            (entry.name.clone(), (entry.extents().to_vec(), bytes))
        };
        File { keys, tensors: gguf.tensors().iter().map(tensor).collect() }
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.keys.retain(|(known, _)| known != key);
        self.keys.push((key.to_owned(), value));
        self
    }

    pub fn without(mut self, key: &str) -> Self {
        self.keys.retain(|(known, _)| known != key);
        self
    }

    pub fn take(&mut self, name: &str) -> Option<(Vec<u64>, Vec<u8>)> {
        self.tensors.remove(name)
    }

    pub fn put(&mut self, name: &str, extents: &[u64], bytes: Vec<u8>) {
        self.tensors.insert(name.to_owned(), (extents.to_vec(), bytes));
    }

    pub fn written(&self) -> Vec<u8> {
        let mut writer = GgufWriter::new();
        self.keys.iter().for_each(|(key, value)| writer.set(key, value.clone()));
        for (name, (extents, _)) in &self.tensors {
            writer.tensor(name, DType::F32, extents).unwrap();
        }
        let mut body = writer.begin("changed", Vec::new()).unwrap();
        self.tensors.values().for_each(|(_, bytes)| body.append(bytes).unwrap());
        body.finish().unwrap()
    }
}

/// What the metadata alone is refused for.
pub fn refused(file: &File) -> ModelError {
    let described = Description::new(Arc::new(Gguf::from_bytes("changed", file.written()).unwrap()));
    described.and_then(|model| model.graph(&BATCH)).expect_err("it contradicts itself")
}

pub const BATCH: Batch = Batch { tokens: 2, ..Batch::token(16, CacheTypes::both(DType::F16)) };
