//! What is committed: objects, and a table of what they are and take.

use crate::notes::Kernel;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Objects by stem.
#[derive(Default)]
pub struct Manifest {
    pub compiler: String,
    pub entries: BTreeMap<String, Entry>,
}

/// One object.
#[derive(Clone)]
pub struct Entry {
    /// Hash of the whole text.
    pub source: String,
    pub kernels: BTreeMap<String, Kernel>,
}

const ENDING: &str = ".co.zst";
/// Names of a kernel's numbers.
const NUMBERS: &[&str] =
    &["vgprs", "sgprs", "lds", "scratch", "vgpr_spills", "sgpr_spills", "waves", "threads", "arguments"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../backend-hip/objects/gfx1151")
}

fn file(stem: &str) -> PathBuf {
    folder().join(format!("{stem}{ENDING}"))
}

/// Stems that have an object.
pub fn objects() -> BTreeSet<String> {
    let files = std::fs::read_dir(folder()).into_iter().flatten();
    let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(ENDING).map(str::to_owned)).collect()
}

/// An object, uncompressed.
pub fn object(stem: &str) -> Option<Vec<u8>> {
    let compressed = std::fs::read(file(stem)).ok()?;
    zstd::decode_all(compressed.as_slice()).ok()
}

pub fn write_object(stem: &str, object: &[u8]) {
    std::fs::create_dir_all(folder()).unwrap();
    std::fs::write(file(stem), zstd::encode_all(object, 19).unwrap()).unwrap();
}

pub fn remove_object(stem: &str) {
    std::fs::remove_file(file(stem)).unwrap();
}

/// Whether a text is the same: FNV-1a, for which no library is needed.
pub fn hash(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

impl Manifest {
    /// The committed table; an empty one if there is none or it cannot be read.
    pub fn read() -> Manifest {
        let text = std::fs::read_to_string(folder().join("manifest.json")).unwrap_or_default();
        serde_json::from_str(&text).ok().and_then(|all| Self::from_json(&all)).unwrap_or_default()
    }

    fn from_json(all: &Value) -> Option<Manifest> {
        let mut entries = BTreeMap::new();
        for (stem, entry) in all["objects"].as_object()? {
            let kernel = |numbers: &Value| -> Option<Kernel> {
                NUMBERS.iter().map(|name| Some((*name, numbers[name].as_u64()?))).collect()
            };
            let kernels = entry["kernels"].as_object()?.iter();
            let kernels = kernels.map(|(name, numbers)| Some((name.clone(), kernel(numbers)?)));
            let (source, kernels) = (entry["source"].as_str()?.to_owned(), kernels.collect::<Option<_>>()?);
            entries.insert(stem.clone(), Entry { source, kernels });
        }
        Some(Manifest { compiler: all["compiler"].as_str()?.to_owned(), entries })
    }

    /// Writes the table with a line for each kernel.
    pub fn write(&self) {
        let mut text = format!("{{\n\"compiler\": {},\n\"objects\": {{\n", json!(self.compiler));
        for (k, (stem, entry)) in self.entries.iter().enumerate() {
            let comma = if k + 1 < self.entries.len() { "," } else { "" };
            let line = |(name, kernel): (&String, &Kernel)| {
                let numbers: Map<String, Value> =
                    NUMBERS.iter().map(|key| ((*key).to_owned(), json!(kernel[key]))).collect();
                format!("  {}: {}", json!(name), Value::Object(numbers))
            };
            let lines: Vec<String> = entry.kernels.iter().map(line).collect();
            text += &format!(
                "{}: {{\"source\": {}, \"kernels\": {{\n{}\n}}}}{comma}\n",
                json!(stem),
                json!(entry.source),
                lines.join(",\n")
            );
        }
        text += "}\n}\n";
        std::fs::write(folder().join("manifest.json"), text).unwrap();
    }
}
