//! Collects the shader sources of the workspace into one table of (name, text).

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../shaders");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut table = String::from("&[\n");
    for folder in ["", "include"] {
        let mut files: Vec<PathBuf> =
            fs::read_dir(root.join(folder))?.map(|f| f.map(|f| f.path())).collect::<Result<_, _>>()?;
        files.retain(|file| file.extension().is_some_and(|e| e == "wgsl"));
        files.sort();
        for file in files {
            println!("cargo::rerun-if-changed={}", file.display());
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = if folder.is_empty() { stem } else { format!("{folder}/{stem}") };
            // Writing to a string cannot fail.
            let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", file.canonicalize()?);
        }
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("shaders.rs"), table)
}
