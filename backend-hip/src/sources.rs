//! The texts of `kernels/`, compiled in. A kernel's text is pasted together with what it includes, so that no compiler needs
//! a folder.

use crate::arguments;
use std::collections::HashSet;
use std::fmt::Write;

/// (name, text) of every file: `stem` or `include/name.h`.
static TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// Stems that have a text.
pub fn stems() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name).filter(|name| !name.contains('/'))
}

/// A text by name. A debug build reads it from the folder that `WEFT_KERNELS` names, if it is set: kernels can then be worked
/// on without building anything.
fn text(name: &str) -> Option<String> {
    if cfg!(debug_assertions)
        && let Some(folder) = std::env::var_os("WEFT_KERNELS")
    {
        let file = if name.contains('/') { name.to_owned() } else { format!("{name}.hip") };
        return std::fs::read_to_string(std::path::Path::new(&folder).join(file)).ok();
    }
    TEXTS.iter().find(|(n, _)| *n == name).map(|(_, text)| (*text).to_owned())
}

/// The whole text of a stem: every include pasted at its first mention, arguments written from the contract.
///
/// # Errors
/// The name of what is missing.
pub fn source_text(stem: &str) -> Result<String, String> {
    let mut whole = String::new();
    paste(stem, &mut HashSet::new(), &mut whole)?;
    Ok(whole)
}

fn paste(name: &str, seen: &mut HashSet<String>, whole: &mut String) -> Result<(), String> {
    if !seen.insert(name.to_owned()) {
        return Ok(());
    }
    let file = if name.contains('/') { name.to_owned() } else { format!("{name}.hip") };
    let content = match name.strip_prefix("args/").and_then(|args| args.strip_suffix(".h")) {
        Some("types") => arguments::types(),
        Some("codebooks") => arguments::codebooks(),
        Some(stem) => arguments::header(stem).ok_or_else(|| format!("no kernel has the stem `{stem}`"))?,
        None => text(name).ok_or_else(|| format!("there is no text `{file}`"))?,
    };
    // Writing to a string cannot fail.
    let _ = writeln!(whole, "#line 1 \"{file}\"");
    for (number, line) in content.lines().enumerate() {
        let included = line.trim().strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(included) = included {
            paste(included, seen, whole)?;
            let _ = writeln!(whole, "#line {} \"{file}\"", number + 2);
        } else if line.trim() != "#pragma once" {
            let _ = writeln!(whole, "{line}");
        } else {
            whole.push('\n');
        }
    }
    Ok(())
}
