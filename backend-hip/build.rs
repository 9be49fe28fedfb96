//! Collects kernel texts and code objects into tables of (name, content).

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Files of a folder with this ending, sorted.
fn files(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|f| f.map(|f| f.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    files.sort();
    Ok(files)
}

/// Adds a row for each file, which `macro_name` includes.
fn add(
    table: &mut String,
    folder: &Path,
    prefix: &str,
    ending: &str,
    keep: &str,
    macro_name: &str,
) -> io::Result<()> {
    for file in files(folder, ending)? {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = name.strip_suffix(ending).unwrap_or(&name);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "    (\"{prefix}{stem}{keep}\", {macro_name}!({:?})),", file.canonicalize()?);
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let kernels = root.join("../kernels");
    let mut texts = String::from("&[\n");
    add(&mut texts, &kernels, "", ".hip", "", "include_str")?;
    add(&mut texts, &kernels.join("include"), "include/", ".h", ".h", "include_str")?;
    texts.push_str("]\n");
    fs::write(out.join("texts.rs"), texts)?;
    let mut objects = String::from("&[\n");
    add(&mut objects, &root.join("objects/gfx1151"), "", ".co.zst", "", "include_bytes")?;
    objects.push_str("]\n");
    fs::write(out.join("objects.rs"), objects)
}
