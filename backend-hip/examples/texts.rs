//! Writes the whole text of each kernel, includes pasted and arguments declared, to a folder: for compilers and for reading.
//!
//! `cargo run -p weft-hip --example texts FOLDER [STEM]…`

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let wanted: Vec<String> = arguments.map(|stem| stem.to_string_lossy().into_owned()).collect();
    std::fs::create_dir_all(&folder)?;
    for stem in weft_hip::stems().filter(|stem| wanted.is_empty() || wanted.iter().any(|w| w == stem)) {
        std::fs::write(folder.join(format!("{stem}.hip")), weft_hip::source_text(stem)?)?;
    }
    Ok(())
}
