//! Writing GGUF version 3 as a stream: first everything that the head needs, then the tensors one after another.

use std::io::Write;
use std::sync::Arc;

use weft_core::graph::DType;

use super::tensor::packed_bytes;
use super::value::{Array, Value, ValueKind};
use super::{GgufError, HostBytes};

/// Where each tensor begins is a multiple of this.
const ALIGNMENT: u64 = 32;

/// The head of a file in the making.
#[derive(Clone, Debug, Default)]
pub struct GgufWriter {
    entries: Vec<(String, Value)>,
    tensors: Vec<Planned>,
}

#[derive(Clone, Debug)]
struct Planned {
    name: String,
    dtype: DType,
    extents: Vec<u64>,
    bytes: u64,
}

impl GgufWriter {
    /// A head without keys and tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, in place of any earlier value.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.entries.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// Announces the next tensor: its extents, innermost first, one to four of them.
    ///
    /// # Errors
    /// [`GgufError::Dims`], [`GgufError::Extent`], [`GgufError::Ragged`], [`GgufError::TooLarge`]
    pub fn tensor(&mut self, name: &str, dtype: DType, extents: &[u64]) -> Result<(), GgufError> {
        let mut shape = [1; 4];
        let Some(named) = shape.get_mut(..extents.len()) else {
            let dims = extents.len() as u32;
            return Err(GgufError::Dims { file: String::new(), tensor: name.to_owned(), dims });
        };
        named.copy_from_slice(extents);
        if let Some(dim) = extents.iter().position(|extent| *extent == 0) {
            return Err(GgufError::Extent { file: String::new(), tensor: name.to_owned(), dim, extent: 0 });
        }
        let bytes = packed_bytes("", name, dtype, shape)?;
        self.tensors.push(Planned { name: name.to_owned(), dtype, extents: extents.to_vec(), bytes });
        Ok(())
    }

    /// The bytes of the tensors, without the padding between them.
    pub fn tensor_bytes(&self) -> u64 {
        self.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.bytes))
    }

    /// The bytes of the head: keys, tensor table, and padding up to the data.
    pub fn head(&self) -> Vec<u8> {
        let mut head = Vec::from(*b"GGUF");
        head.extend(3u32.to_le_bytes());
        head.extend((self.tensors.len() as u64).to_le_bytes());
        head.extend((self.entries.len() as u64).to_le_bytes());
        for (key, value) in &self.entries {
            put_string(&mut head, key.as_bytes());
            put_value(&mut head, value);
        }
        let mut offset = 0u64;
        for tensor in &self.tensors {
            put_string(&mut head, tensor.name.as_bytes());
            head.extend((tensor.extents.len() as u32).to_le_bytes());
            head.extend(tensor.extents.iter().flat_map(|extent| extent.to_le_bytes()));
            head.extend(tensor.dtype.row().gguf.to_le_bytes());
            head.extend(offset.to_le_bytes());
            offset = offset.saturating_add(tensor.bytes.saturating_add(padding(tensor.bytes)));
        }
        head.resize(head.len().next_multiple_of(ALIGNMENT as usize), 0);
        head
    }

    /// Writes the head. `file` stands for the sink in messages.
    ///
    /// # Errors
    /// [`GgufError::Io`]
    pub fn begin<W: Write>(self, file: &str, sink: W) -> Result<GgufBody<W>, GgufError> {
        let head = self.head();
        let mut body =
            GgufBody { file: file.to_owned(), sink, tensors: self.tensors, current: 0, written: 0 };
        body.put(&head)?;
        Ok(body)
    }
}

/// A file whose head is written and whose tensors follow.
#[derive(Debug)]
pub struct GgufBody<W> {
    file: String,
    sink: W,
    tensors: Vec<Planned>,
    current: usize,
    written: u64,
}

impl<W: Write> GgufBody<W> {
    /// Appends bytes to the current tensor, the first one that is not complete.
    ///
    /// # Errors
    /// [`GgufError::Excess`] if that tensor does not take so many, [`GgufError::Io`]
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), GgufError> {
        let total = self.tensors.get(self.current).map_or(0, |tensor| tensor.bytes);
        if bytes.len() as u64 > total - self.written {
            return Err(GgufError::Excess { file: self.file.clone() });
        }
        self.put(bytes)?;
        self.written += bytes.len() as u64;
        if self.written == total && self.current < self.tensors.len() {
            self.put(&[0; ALIGNMENT as usize][..padding(total) as usize])?;
            (self.current, self.written) = (self.current + 1, 0);
        }
        Ok(())
    }

    /// Ends the file and returns the sink, flushed.
    ///
    /// # Errors
    /// [`GgufError::Unwritten`] if a tensor is not complete, [`GgufError::Io`]
    pub fn finish(mut self) -> Result<W, GgufError> {
        if let Some(tensor) = self.tensors.get(self.current) {
            return Err(GgufError::Unwritten {
                file: self.file,
                tensor: tensor.name.clone(),
                want: tensor.bytes,
                got: self.written,
            });
        }
        self.sink.flush().map_err(|source| GgufError::Io { file: self.file, source })?;
        Ok(self.sink)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), GgufError> {
        self.sink.write_all(bytes).map_err(|source| GgufError::Io { file: self.file.clone(), source })
    }
}

/// Zero bytes that follow a tensor.
fn padding(bytes: u64) -> u64 {
    (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT
}

fn put_string(out: &mut Vec<u8>, string: &[u8]) {
    out.extend((string.len() as u64).to_le_bytes());
    out.extend(string);
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    out.extend(value.kind().id().to_le_bytes());
    match value {
        Value::U8(v) => out.push(*v),
        Value::I8(v) => out.push(v.cast_unsigned()),
        Value::U16(v) => out.extend(v.to_le_bytes()),
        Value::I16(v) => out.extend(v.to_le_bytes()),
        Value::U32(v) => out.extend(v.to_le_bytes()),
        Value::I32(v) => out.extend(v.to_le_bytes()),
        Value::F32(v) => out.extend(v.to_le_bytes()),
        Value::Bool(v) => out.push((*v).into()),
        Value::U64(v) => out.extend(v.to_le_bytes()),
        Value::I64(v) => out.extend(v.to_le_bytes()),
        Value::F64(v) => out.extend(v.to_le_bytes()),
        Value::String(bytes) => put_string(out, bytes.as_ref()),
        Value::Array(array) => {
            out.extend(array.kind().id().to_le_bytes());
            out.extend(array.len().to_le_bytes());
            out.extend(array.bytes());
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(HostBytes::from(Arc::from(text.as_bytes())))
    }
}

impl<S: AsRef<[u8]>> FromIterator<S> for Array {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let (mut count, mut bytes) = (0, Vec::new());
        for string in strings {
            put_string(&mut bytes, string.as_ref());
            count += 1;
        }
        Array::new(ValueKind::String, count, bytes.into())
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Value::Array(array)
    }
}

macro_rules! from_scalars {
    ($($kind:ident, $number:ty;)*) => {$(
        impl From<$number> for Value {
            fn from(value: $number) -> Self {
                Value::$kind(value)
            }
        }

        impl From<&[$number]> for Value {
            fn from(values: &[$number]) -> Self {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                Value::Array(Array::new(ValueKind::$kind, values.len() as u64, bytes.into()))
            }
        }
    )*};
}

from_scalars! {
    U8, u8;
    U16, u16;
    U32, u32;
    I32, i32;
    U64, u64;
    F32, f32;
}

impl From<bool> for Value {
    fn from(claim: bool) -> Self {
        Value::Bool(claim)
    }
}

impl From<&[bool]> for Value {
    fn from(claims: &[bool]) -> Self {
        let bytes: Vec<u8> = claims.iter().map(|claim| (*claim).into()).collect();
        Value::Array(Array::new(ValueKind::Bool, claims.len() as u64, bytes.into()))
    }
}
