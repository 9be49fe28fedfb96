//! Bytes of small GGUF files, made field by field so that a test can get any of them wrong.

use weft::gguf::{Gguf, GgufError, GgufWriter};
use weft_core::graph::DType;

/// A head in the making: keys and tensors are counted as they are added.
#[derive(Default)]
pub struct Raw {
    keys: u64,
    tensors: u64,
    key_bytes: Vec<u8>,
    tensor_bytes: Vec<u8>,
}

pub fn string(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text].concat()
}

impl Raw {
    /// A key with the bytes of its value, type first.
    pub fn key(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.keys += 1;
        self.key_bytes.extend([&string(key.as_bytes())[..], &kind.to_le_bytes(), value].concat());
        self
    }

    pub fn tensor(mut self, name: &str, extents: &[u64], kind: u32, offset: u64) -> Self {
        self.tensors += 1;
        self.tensor_bytes.extend(string(name.as_bytes()));
        self.tensor_bytes.extend((extents.len() as u32).to_le_bytes());
        self.tensor_bytes.extend(extents.iter().flat_map(|extent| extent.to_le_bytes()));
        self.tensor_bytes.extend(kind.to_le_bytes());
        self.tensor_bytes.extend(offset.to_le_bytes());
        self
    }

    /// The head, padded to 32 bytes, and `data` zero bytes behind it.
    pub fn bytes(&self, data: usize) -> Vec<u8> {
        let mut bytes = Vec::from(*b"GGUF");
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(self.tensors.to_le_bytes());
        bytes.extend(self.keys.to_le_bytes());
        bytes.extend(&self.key_bytes);
        bytes.extend(&self.tensor_bytes);
        bytes.resize(bytes.len().next_multiple_of(32) + data, 0);
        bytes
    }

    /// What the reader says to the file.
    pub fn fault(&self, data: usize) -> GgufError {
        fault(self.bytes(data))
    }
}

/// What the reader says to some bytes that it must refuse.
pub fn fault(bytes: Vec<u8>) -> GgufError {
    let error = Gguf::from_bytes("t.gguf", bytes).unwrap_err();
    let line = error.to_string();
    assert!(line.starts_with("t.gguf: "), "{line}");
    assert!(!line.contains('\n'), "{line}");
    error
}

/// A tiny whole file with a value of most kinds and two tensors.
pub fn tiny() -> Vec<u8> {
    let mut writer = GgufWriter::new();
    writer.set("general.architecture", "qwen35");
    writer.set("general.alignment", 32u32);
    writer.set("a.u64", u64::MAX);
    writer.set("a.f32", 0.25f32);
    writer.set("a.bool", true);
    writer.set("a.numbers", &[1i32, -2, 3][..]);
    writer.set("a.claims", &[true, false][..]);
    writer.set("a.strings", ["one", "", "three"].iter().collect::<weft::gguf::Array>());
    writer.tensor("first.weight", DType::Q8_0, &[32, 3]).unwrap();
    writer.tensor("second", DType::F32, &[5]).unwrap();
    let mut body = writer.begin("tiny", Vec::new()).unwrap();
    let data: Vec<u8> = (0..102).collect();
    body.append(&data[..40]).unwrap();
    body.append(&data[40..]).unwrap();
    body.append(&[1; 20]).unwrap();
    body.finish().unwrap()
}

/// Walks everything that a reader can reach. Nothing in here may panic.
pub fn walk(model: &Gguf) -> u64 {
    let mut sum = 0;
    for (key, value) in model.metadata().iter() {
        sum += key.len() as u64 + value.to_string().len() as u64;
        if let Ok(Some(strings)) = model.find::<weft::gguf::Strings>(key) {
            sum += strings.map(|string| string.len() as u64).sum::<u64>();
        }
        if let Ok(Some(numbers)) = model.find::<Vec<u32>>(key) {
            sum += numbers.len() as u64;
        }
        if let Ok(Some(numbers)) = model.metadata().find_per_layer::<u32>(key, 2) {
            assert_eq!(numbers.len(), 2);
        }
    }
    for entry in model.tensors() {
        let bytes = model.tensor_bytes(entry).unwrap();
        assert_eq!(bytes.len() as u64, entry.bytes);
        assert!(entry.values() > 0);
        assert_eq!(model.tensor(&entry.name).unwrap(), entry);
        sum += bytes.as_ref().iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }
    sum
}
