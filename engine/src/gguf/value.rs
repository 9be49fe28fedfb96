//! Metadata values.

use super::HostBytes;

/// The type of a metadata value.
#[expect(missing_docs, reason = "the variants are the GGUF value types")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64,
}

/// The kinds in the order of their ids, with their names and the bytes of one value; 0 where that varies.
const KINDS: [(ValueKind, &str, u64); 13] = [
    (ValueKind::U8, "u8", 1),
    (ValueKind::I8, "i8", 1),
    (ValueKind::U16, "u16", 2),
    (ValueKind::I16, "i16", 2),
    (ValueKind::U32, "u32", 4),
    (ValueKind::I32, "i32", 4),
    (ValueKind::F32, "f32", 4),
    (ValueKind::Bool, "bool", 1),
    (ValueKind::String, "string", 0),
    (ValueKind::Array, "array", 0),
    (ValueKind::U64, "u64", 8),
    (ValueKind::I64, "i64", 8),
    (ValueKind::F64, "f64", 8),
];

impl ValueKind {
    /// The kind of an id in a file, if it is a known one.
    pub fn from_id(id: u32) -> Option<Self> {
        KINDS.get(id as usize).map(|row| row.0)
    }

    /// Its id in files.
    pub const fn id(self) -> u32 {
        self as u32
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Bytes of one value, or `None` for strings and arrays.
    pub const fn bytes(self) -> Option<u64> {
        match KINDS[self as usize].2 {
            0 => None,
            bytes => Some(bytes),
        }
    }
}

/// One metadata value. Strings and arrays stay in the file until they are asked for.
#[expect(missing_docs, reason = "the variants are the GGUF value types")]
#[derive(Clone, Debug)]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    /// Should be UTF-8, but need not: token strings sometimes hold parts of characters.
    String(HostBytes),
    Array(Array),
    U64(u64),
    I64(i64),
    F64(f64),
}

impl Value {
    /// Its type.
    pub fn kind(&self) -> ValueKind {
        match self {
            Value::U8(_) => ValueKind::U8,
            Value::I8(_) => ValueKind::I8,
            Value::U16(_) => ValueKind::U16,
            Value::I16(_) => ValueKind::I16,
            Value::U32(_) => ValueKind::U32,
            Value::I32(_) => ValueKind::I32,
            Value::F32(_) => ValueKind::F32,
            Value::Bool(_) => ValueKind::Bool,
            Value::String(_) => ValueKind::String,
            Value::Array(_) => ValueKind::Array,
            Value::U64(_) => ValueKind::U64,
            Value::I64(_) => ValueKind::I64,
            Value::F64(_) => ValueKind::F64,
        }
    }

    /// The value of any integer type.
    pub fn as_integer(&self) -> Option<i128> {
        Some(match *self {
            Value::U8(v) => v.into(),
            Value::I8(v) => v.into(),
            Value::U16(v) => v.into(),
            Value::I16(v) => v.into(),
            Value::U32(v) => v.into(),
            Value::I32(v) => v.into(),
            Value::U64(v) => v.into(),
            Value::I64(v) => v.into(),
            _ => return None,
        })
    }

    /// The value of either float type.
    pub fn as_float(&self) -> Option<f64> {
        match *self {
            Value::F32(v) => Some(v.into()),
            Value::F64(v) => Some(v),
            _ => None,
        }
    }

    /// The text of a string, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(bytes) => std::str::from_utf8(bytes.as_ref()).ok(),
            _ => None,
        }
    }

    /// A scalar of `kind` from exactly its bytes.
    pub(super) fn scalar(kind: ValueKind, bytes: &[u8]) -> Option<Self> {
        Some(match kind {
            ValueKind::U8 => Value::U8(*bytes.first()?),
            ValueKind::I8 => Value::I8(bytes.first()?.cast_signed()),
            ValueKind::Bool => Value::Bool(*bytes.first()? != 0),
            ValueKind::U16 => Value::U16(u16::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::I16 => Value::I16(i16::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::U32 => Value::U32(u32::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::I32 => Value::I32(i32::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::F32 => Value::F32(f32::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::U64 => Value::U64(u64::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::I64 => Value::I64(i64::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::F64 => Value::F64(f64::from_le_bytes(bytes.try_into().ok()?)),
            ValueKind::String | ValueKind::Array => return None,
        })
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.kind().name();
        match self {
            Value::String(bytes) => match std::str::from_utf8(bytes.as_ref()) {
                Ok(text) if text.len() <= 64 => write!(f, "the string {text:?}"),
                Ok(text) => write!(f, "a string of {} bytes", text.len()),
                Err(_) => write!(f, "a string of {} bytes that are not UTF-8", bytes.len()),
            },
            Value::Array(array) => write!(f, "an array of {} {}", array.len(), array.kind().name()),
            Value::Bool(value) => write!(f, "the bool {value}"),
            _ => match self.as_float() {
                Some(value) => write!(f, "the {name} {value}"),
                None => write!(f, "the {name} {}", self.as_integer().unwrap_or_default()),
            },
        }
    }
}

/// An array of scalars or strings, kept as the file holds it.
#[derive(Clone, Debug)]
pub struct Array {
    kind: ValueKind,
    count: u64,
    bytes: HostBytes,
}

impl Array {
    /// `bytes` hold exactly `count` elements; their maker has checked that.
    pub(super) fn new(kind: ValueKind, count: u64, bytes: HostBytes) -> Self {
        Self { kind, count, bytes }
    }

    /// The type of the elements; never [`ValueKind::Array`].
    pub fn kind(&self) -> ValueKind {
        self.kind
    }

    /// How many elements there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The elements as the file holds them.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The elements of an array of scalars; none for strings.
    pub fn scalars(&self) -> impl Iterator<Item = Value> + '_ {
        let size = self.kind.bytes();
        let bytes = if size.is_some() { self.bytes() } else { &[] };
        bytes.chunks_exact(size.unwrap_or(1) as usize).filter_map(|bytes| Value::scalar(self.kind, bytes))
    }
}
