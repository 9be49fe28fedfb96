//! The workspace's own source files, for tests that hold them to a law.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file without its comments.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path from the workspace's root.
    pub name: String,
    /// Its code.
    pub code: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// One file, by its path from the root.
///
/// # Panics
/// It cannot be read.
pub fn read(path: &Path) -> Source {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let code = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    Source { name: path.display().to_string(), code }
}

/// Every Rust file in a folder, by its path from the root.
///
/// # Panics
/// The folder cannot be read.
pub fn under(folder: &str) -> Vec<Source> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}")) {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rs") {
            all.push(read(&Path::new(folder).join(name)));
        }
    }
    assert!(!all.is_empty(), "{folder} holds no sources");
    all
}
