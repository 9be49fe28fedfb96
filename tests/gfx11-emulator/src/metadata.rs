//! The msgpack note of a code object: what it says about each kernel.

use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub offset: usize,
    pub size: usize,
    /// `by_value`, `global_buffer`, or `hidden_...`: filled by the runtime.
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub arguments: Vec<Argument>,
    pub argument_bytes: usize,
    pub max_threads: usize,
    pub vectors: usize,
    pub scalars: usize,
    pub lds_bytes: usize,
    pub scratch_bytes: usize,
}

enum Value {
    Integer(u64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Other,
}

impl Value {
    fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else { return None };
        let mut entries = entries.iter();
        entries.find(|(name, _)| matches!(name, Value::Text(text) if text == key)).map(|(_, value)| value)
    }

    fn integer(&self) -> Option<usize> {
        if let Value::Integer(value) = self { usize::try_from(*value).ok() } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    fn list(&self) -> &[Value] {
        if let Value::List(items) = self { items } else { &[] }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn big_endian(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn text(&mut self, bytes: u64) -> Option<Value> {
        let bytes = self.take(usize::try_from(bytes).ok()?)?;
        Some(Value::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn list(&mut self, count: u64) -> Option<Value> {
        (0..count).map(|_| self.value()).collect::<Option<_>>().map(Value::List)
    }

    fn map(&mut self, count: u64) -> Option<Value> {
        (0..count).map(|_| Some((self.value()?, self.value()?))).collect::<Option<_>>().map(Value::Map)
    }

    /// Only what notes contain: no floats, no binary data, no negative numbers worth reading.
    fn value(&mut self) -> Option<Value> {
        let tag = *self.take(1)?.first()?;
        let low = u64::from(tag);
        match tag {
            0x00..=0x7f => Some(Value::Integer(low)),
            0x80..=0x8f => self.map(low & 15),
            0x90..=0x9f => self.list(low & 15),
            0xa0..=0xbf => self.text(low & 31),
            0xc0 | 0xc2 | 0xc3 => Some(Value::Other),
            0xcc..=0xcf => self.big_endian(1 << (tag - 0xcc)).map(Value::Integer),
            0xd9 | 0xda => {
                let bytes = self.big_endian(1 << (tag - 0xd9))?;
                self.text(bytes)
            }
            0xdc => {
                let count = self.big_endian(2)?;
                self.list(count)
            }
            0xde => {
                let count = self.big_endian(2)?;
                self.map(count)
            }
            _ => None,
        }
    }
}

/// By the name of the kernel; `None` when the note cannot be read.
pub fn kernels(note: &[u8]) -> Option<HashMap<String, About>> {
    let name = b"AMDGPU\0\0";
    let at = note.windows(name.len()).position(|window| window == name)?;
    let root = Reader { bytes: &note[at + name.len()..] }.value()?;
    root.get("amdhsa.kernels")?.list().iter().map(kernel).collect()
}

fn kernel(entry: &Value) -> Option<(String, About)> {
    let arguments = entry.get(".args").map_or(&[][..], Value::list);
    let number = |key: &str| entry.get(key)?.integer();
    let about = About {
        arguments: arguments.iter().map(argument).collect::<Option<_>>()?,
        argument_bytes: number(".kernarg_segment_size")?,
        max_threads: number(".max_flat_workgroup_size")?,
        vectors: number(".vgpr_count")?,
        scalars: number(".sgpr_count")?,
        lds_bytes: number(".group_segment_fixed_size")?,
        scratch_bytes: number(".private_segment_fixed_size")?,
    };
    Some((entry.get(".name")?.text()?.to_owned(), about))
}

fn argument(entry: &Value) -> Option<Argument> {
    Some(Argument {
        offset: entry.get(".offset")?.integer()?,
        size: entry.get(".size")?.integer()?,
        kind: entry.get(".value_kind")?.text()?.to_owned(),
    })
}
