//! One file: its metadata and its tensor table, checked.

use std::fmt::Display;

use super::cursor::Cursor;
use super::metadata::Metadata;
use super::value::{Array, Value, ValueKind};
use super::{GgufError, HostBytes, TensorEntry};

const MAGIC: [u8; 4] = *b"GGUF";
/// The longest key that GGUF allows, in bytes.
const KEY_LIMIT: u64 = 65_535;
/// More keys or tensors than any model has, few enough that the tables of a hostile file stay small.
const COUNT_LIMIT: u64 = 1 << 20;
/// Bytes of the shortest key with value: empty key, type, one byte.
const LEAST_KEY: u64 = 8 + 4 + 1;
/// Bytes of the shortest row of the tensor table: empty name, number of dimensions, type, offset.
const LEAST_TENSOR: u64 = 8 + 4 + 4 + 8;

/// What the head of a file says.
pub(super) struct Header {
    pub(super) metadata: Metadata,
    pub(super) tensors: Vec<TensorEntry>,
}

impl Header {
    /// Reads the head of `bytes`, file number `shard` of its model. Unless `has_data`, tensors may lie past the end.
    pub(super) fn read(
        file: &str,
        bytes: &HostBytes,
        shard: usize,
        has_data: bool,
    ) -> Result<Self, GgufError> {
        let mut cursor = Cursor::new(file, bytes.as_ref());
        check_version(&mut cursor)?;
        let tensor_count = cursor.count(LEAST_TENSOR, COUNT_LIMIT, &"the number of tensors")?;
        let key_count = cursor.count(LEAST_KEY, COUNT_LIMIT, &"the number of keys")?;

        let mut metadata = Metadata::new(file);
        for index in 0..key_count {
            let key = cursor.text(KEY_LIMIT, &format_args!("key {index}"))?;
            let value = read_value(&mut cursor, bytes, key)?;
            metadata.insert(key, value)?;
        }
        let alignment = metadata.find::<u32>("general.alignment")?.unwrap_or(32);
        if !alignment.is_power_of_two() {
            return Err(GgufError::Alignment { file: file.to_owned(), alignment });
        }

        let mut tensors = Vec::with_capacity(tensor_count as usize);
        for index in 0..tensor_count {
            tensors.push(TensorEntry::read(&mut cursor, index, shard)?);
        }
        // Cannot overflow: the offset is that of a byte in memory.
        let data = cursor.offset().next_multiple_of(alignment.into());
        let end = if has_data { bytes.len() as u64 } else { i64::MAX as u64 };
        place(file, &mut tensors, alignment, data, end)?;
        Ok(Self { metadata, tensors })
    }
}

fn check_version(cursor: &mut Cursor<'_>) -> Result<(), GgufError> {
    let file = cursor.file;
    let got = cursor.array(&"the magic number")?;
    if got != MAGIC {
        return Err(GgufError::Magic { file: file.to_owned(), got });
    }
    let version = cursor.u32(&"the version")?;
    match version {
        2 | 3 => Ok(()),
        _ if matches!(version.swap_bytes(), 1..=255) => Err(GgufError::BigEndian { file: file.to_owned() }),
        _ => Err(GgufError::Version { file: file.to_owned(), version }),
    }
}

fn read_value(cursor: &mut Cursor<'_>, bytes: &HostBytes, key: &str) -> Result<Value, GgufError> {
    let what = format_args!("the value of {key:?}");
    match read_kind(cursor, key)? {
        ValueKind::String => {
            let string = cursor.string(&what)?.len() as u64;
            let string = part(cursor, bytes, cursor.offset() - string, &what)?;
            Ok(Value::String(string))
        }
        ValueKind::Array => read_array(cursor, bytes, key),
        kind => {
            let scalar = cursor.take(kind.bytes().unwrap_or(0), &what)?;
            let unknown =
                || GgufError::ValueType { file: cursor.file.to_owned(), key: key.to_owned(), id: kind.id() };
            Value::scalar(kind, scalar).ok_or_else(unknown)
        }
    }
}

fn read_kind(cursor: &mut Cursor<'_>, key: &str) -> Result<ValueKind, GgufError> {
    let id = cursor.u32(&format_args!("the type of {key:?}"))?;
    ValueKind::from_id(id).ok_or_else(|| GgufError::ValueType {
        file: cursor.file.to_owned(),
        key: key.to_owned(),
        id,
    })
}

fn read_array(cursor: &mut Cursor<'_>, bytes: &HostBytes, key: &str) -> Result<Value, GgufError> {
    let kind = read_kind(cursor, key)?;
    if kind == ValueKind::Array {
        return Err(GgufError::NestedArray { file: cursor.file.to_owned(), key: key.to_owned() });
    }
    let what = format_args!("the value of {key:?}");
    // A string takes eight bytes at least, for its length.
    let least = kind.bytes().unwrap_or(8);
    let count = cursor.count(least, u64::MAX, &format_args!("the length of {key:?}"))?;
    let start = cursor.offset();
    match kind.bytes() {
        // Cannot overflow: `count` has been held against the rest of the file.
        Some(size) => cursor.take(count * size, &what).map(drop)?,
        None => (0..count).try_for_each(|_| cursor.string(&what).map(drop))?,
    }
    Ok(Value::Array(Array::new(kind, count, part(cursor, bytes, start, &what)?)))
}

/// The bytes from `start` to the cursor, as a share in the file.
fn part(
    cursor: &Cursor<'_>,
    bytes: &HostBytes,
    start: u64,
    what: &dyn Display,
) -> Result<HostBytes, GgufError> {
    let wanted = cursor.offset() - start;
    bytes.slice(start, wanted).ok_or_else(|| GgufError::Truncated {
        file: cursor.file.to_owned(),
        what: what.to_string(),
        offset: start,
        wanted,
        size: bytes.len() as u64,
    })
}

/// Turns offsets relative to `data` into offsets in the file, and checks that each tensor has bytes of its own.
fn place(
    file: &str,
    tensors: &mut [TensorEntry],
    alignment: u32,
    data: u64,
    size: u64,
) -> Result<(), GgufError> {
    for entry in &mut *tensors {
        if !entry.offset.is_multiple_of(alignment.into()) {
            return Err(GgufError::Misaligned {
                file: file.to_owned(),
                tensor: entry.name.clone(),
                offset: entry.offset,
                alignment,
            });
        }
        let start = entry.offset.checked_add(data);
        let end = start.and_then(|start| start.checked_add(entry.bytes));
        let (Some(start), Some(_)) = (start, end.filter(|end| *end <= size)) else {
            return Err(GgufError::PastEnd {
                file: file.to_owned(),
                tensor: entry.name.clone(),
                end: end.unwrap_or(u64::MAX),
                size,
            });
        };
        entry.offset = start;
    }
    let mut order: Vec<&TensorEntry> = tensors.iter().collect();
    order.sort_by_key(|entry| entry.offset);
    for pair in order.windows(2) {
        if pair[0].offset + pair[0].bytes > pair[1].offset {
            return Err(GgufError::Overlap {
                file: file.to_owned(),
                tensor: pair[0].name.clone(),
                other: pair[1].name.clone(),
            });
        }
    }
    Ok(())
}
