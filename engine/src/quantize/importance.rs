//! Importance matrices as GGUF files: for each matrix the sums of squared inputs of its columns, and how many there were.

use std::collections::HashMap;
use std::path::Path;

use weft_core::graph::DType;
use weft_core::quant::decode_row;

use super::QuantizeError;
use crate::gguf::{Gguf, TensorEntry};

/// How much each column of each matrix matters.
#[derive(Clone, Debug, Default)]
pub struct Importance {
    file: String,
    /// The mean squared input of each column, for each matrix of a tensor, by the tensor's name.
    columns: HashMap<String, Vec<f32>>,
}

impl Importance {
    /// Reads a file.
    ///
    /// # Errors
    /// [`QuantizeError::Gguf`], [`QuantizeError::Importance`]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, QuantizeError> {
        Self::read(&Gguf::open(path)?)
    }

    /// Takes it from a file that is open.
    ///
    /// # Errors
    /// As [`Importance::open`].
    pub fn read(gguf: &Gguf) -> Result<Self, QuantizeError> {
        let fault = |why: String| QuantizeError::Importance { file: gguf.file().to_owned(), why };
        let kind = gguf.find::<&str>("general.type")?;
        if kind != Some("imatrix") {
            return Err(fault(format!("general.type is {kind:?}, not \"imatrix\"")));
        }
        let mut columns = HashMap::new();
        for entry in gguf.tensors() {
            let Some(name) = entry.name.strip_suffix(".in_sum2") else { continue };
            let (sums, counts) = (floats(gguf, entry)?, gguf.tensor(&format!("{name}.counts"))?);
            let (row, counts) = (entry.shape[0] as usize, floats(gguf, counts)?);
            if counts.len() * row != sums.len() {
                return Err(fault(format!("{name:?} has {} sums and {} counts", sums.len(), counts.len())));
            }
            let mut means = sums;
            for (means, count) in means.chunks_exact_mut(row).zip(counts) {
                // A matrix that was never used, such as an expert nobody asked, matters alike in all columns.
                means.iter_mut().for_each(|mean| *mean = if count > 0.0 { *mean / count } else { 1.0 });
            }
            if let Some(wrong) = means.iter().find(|mean| !mean.is_finite() || **mean < 0.0) {
                return Err(fault(format!("{name:?} holds {wrong}")));
            }
            columns.insert(name.to_owned(), means);
        }
        if columns.is_empty() {
            return Err(fault("it holds no sums".to_owned()));
        }
        Ok(Self { file: gguf.file().to_owned(), columns })
    }

    /// The file, for messages and metadata.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// How many tensors it knows.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The importance of a tensor's columns, matrix after matrix, or `None` where the file says nothing of it.
    pub(super) fn of(&self, entry: &TensorEntry) -> Result<Option<&[f32]>, QuantizeError> {
        let Some(columns) = self.columns.get(&entry.name) else { return Ok(None) };
        let (want, got) = (entry.shape[0] * entry.shape[2] * entry.shape[3], columns.len() as u64);
        if want != got {
            let (file, tensor) = (self.file.clone(), entry.name.clone());
            return Err(QuantizeError::ImportanceShape { file, tensor, want, got });
        }
        Ok(Some(columns))
    }
}

fn floats(gguf: &Gguf, entry: &TensorEntry) -> Result<Vec<f32>, QuantizeError> {
    let mut values = vec![0.0; entry.values() as usize];
    if entry.dtype != DType::F32 {
        let why = format!("{:?} is {}, not F32", entry.name, entry.dtype);
        return Err(QuantizeError::Importance { file: gguf.file().to_owned(), why });
    }
    decode_row(entry.dtype, gguf.tensor_bytes(entry)?.as_ref(), &mut values)?;
    Ok(values)
}
