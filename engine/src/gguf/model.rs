//! One model, in one file or several.

use std::collections::HashMap;
use std::path::Path;

use super::header::Header;
use super::metadata::{FromValue, Metadata};
use super::value::Array;
use super::{GgufError, HostBytes, TensorEntry, split};

/// A GGUF model: the metadata of its first file, and the tensors of all.
#[derive(Clone, Debug)]
pub struct Gguf {
    metadata: Metadata,
    tensors: Vec<TensorEntry>,
    index: HashMap<String, usize>,
    shards: Vec<(String, HostBytes)>,
}

impl Gguf {
    /// Maps a file, and if it is one of several split files, the others beside it.
    ///
    /// # Errors
    /// [`GgufError::Io`], or whatever is wrong with a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, GgufError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = HostBytes::map(path)?;
        let header = Header::read(&name, &bytes, 0, true)?;
        let count = split::count(&header)?;
        if count == 1 {
            return Self::assemble(vec![(name, bytes)], vec![header]);
        }
        let siblings = split::siblings(path, count)?;
        let mut shards = Vec::new();
        for path in siblings {
            shards.push((path.display().to_string(), HostBytes::map(&path)?));
        }
        Self::from_shards(shards)
    }

    /// A model in one file that is in memory; `name` stands for the file in messages.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn from_bytes(name: &str, bytes: impl Into<HostBytes>) -> Result<Self, GgufError> {
        Self::from_shards(vec![(name.to_owned(), bytes.into())])
    }

    /// A model in one or more files that are in memory, in their order, each with its name.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes of a file, or with their number and order.
    pub fn from_shards(shards: Vec<(String, HostBytes)>) -> Result<Self, GgufError> {
        Self::read(shards, true)
    }

    /// A file cut off after its tensor table, for planning without weights. [`Gguf::tensor_bytes`] fails.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub fn from_head(name: &str, bytes: impl Into<HostBytes>) -> Result<Self, GgufError> {
        Self::read(vec![(name.to_owned(), bytes.into())], false)
    }

    fn read(shards: Vec<(String, HostBytes)>, has_data: bool) -> Result<Self, GgufError> {
        let mut headers = Vec::new();
        for (shard, (file, bytes)) in shards.iter().enumerate() {
            headers.push(Header::read(file, bytes, shard, has_data)?);
        }
        Self::assemble(shards, headers)
    }

    fn assemble(shards: Vec<(String, HostBytes)>, headers: Vec<Header>) -> Result<Self, GgufError> {
        split::check(&headers)?;
        let mut model =
            Self { metadata: Metadata::new(""), tensors: Vec::new(), index: HashMap::new(), shards };
        for (shard, header) in headers.into_iter().enumerate() {
            if shard == 0 {
                model.metadata = header.metadata;
            }
            for entry in header.tensors {
                if model.index.insert(entry.name.clone(), model.tensors.len()).is_some() {
                    let file = model.shards[shard].0.clone();
                    return Err(GgufError::DuplicateTensor { file, tensor: entry.name });
                }
                model.tensors.push(entry);
            }
        }
        Ok(model)
    }

    /// The metadata of the first file.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The name of the first file, for messages.
    pub fn file(&self) -> &str {
        self.metadata.file()
    }

    /// The names of all files and their sizes in bytes.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.shards.iter().map(|(file, bytes)| (file.as_str(), bytes.len() as u64))
    }

    /// All tensors, in the order of the files.
    pub fn tensors(&self) -> &[TensorEntry] {
        &self.tensors
    }

    /// The tensor of a name that may be absent.
    pub fn find_tensor(&self, name: &str) -> Option<&TensorEntry> {
        self.index.get(name).map(|&at| &self.tensors[at])
    }

    /// The tensor of a name.
    ///
    /// # Errors
    /// [`GgufError::MissingTensor`]
    pub fn tensor(&self, name: &str) -> Result<&TensorEntry, GgufError> {
        self.find_tensor(name)
            .ok_or_else(|| GgufError::MissingTensor { file: self.file().to_owned(), tensor: name.to_owned() })
    }

    /// The bytes of a tensor: a share in the mapping, not a copy.
    ///
    /// # Errors
    /// [`GgufError::PastEnd`] if the model has no data, or the entry is another model's.
    pub fn tensor_bytes(&self, entry: &TensorEntry) -> Result<HostBytes, GgufError> {
        let shard = self.shards.get(entry.shard);
        shard.and_then(|(_, bytes)| bytes.slice(entry.offset, entry.bytes)).ok_or_else(|| {
            GgufError::PastEnd {
                file: shard.map_or(self.file(), |(file, _)| file).to_owned(),
                tensor: entry.name.clone(),
                end: entry.offset.saturating_add(entry.bytes),
                size: shard.map_or(0, |(_, bytes)| bytes.len() as u64),
            }
        })
    }

    /// As [`Metadata::find`].
    ///
    /// # Errors
    /// [`GgufError::WrongValue`]
    pub fn find<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<Option<T>, GgufError> {
        self.metadata.find(key)
    }

    /// As [`Metadata::get`].
    ///
    /// # Errors
    /// [`GgufError::MissingKey`], [`GgufError::WrongValue`]
    pub fn get<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<T, GgufError> {
        self.metadata.get(key)
    }

    /// A number. Errors as [`Gguf::get`].
    pub fn get_u32(&self, key: &str) -> Result<u32, GgufError> {
        self.get(key)
    }

    /// A float. Errors as [`Gguf::get`].
    pub fn get_f32(&self, key: &str) -> Result<f32, GgufError> {
        self.get(key)
    }

    /// A UTF-8 string. Errors as [`Gguf::get`].
    pub fn get_str(&self, key: &str) -> Result<&str, GgufError> {
        self.get(key)
    }

    /// A claim. Errors as [`Gguf::get`].
    pub fn get_bool(&self, key: &str) -> Result<bool, GgufError> {
        self.get(key)
    }

    /// An array of any type. Errors as [`Gguf::get`].
    pub fn get_array(&self, key: &str) -> Result<&Array, GgufError> {
        self.get(key)
    }
}
