//! The texts of `kernels/`, compiled in. A kernel's text is pasted together with what it includes, so that no compiler needs
//! a folder.

use crate::arguments;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::OnceLock;

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

/// The text of a stem with the entry points of one part alone, `#if PK_PART(part)`.
///
/// # Errors
/// The name of what is missing.
pub fn part_text(stem: &str, part: &str) -> Result<String, String> {
    Ok(format!("#define PK_WHOLE 0\n#define PK_PART_{part} 1\n{}", source_text(stem)?))
}

/// Parts of a stem's text, in its order; none where it is compiled as one.
pub fn parts(stem: &str) -> &'static [String] {
    static PARTS: OnceLock<HashMap<&'static str, Vec<String>>> = OnceLock::new();
    let read = || stems().map(|stem| (stem, parts_of(&text(stem).unwrap_or_default()))).collect();
    PARTS.get_or_init(read).get(stem).map_or(&[], Vec::as_slice)
}

fn parts_of(text: &str) -> Vec<String> {
    let part = |line: &str| Some(line.strip_prefix("#if PK_PART(")?.strip_suffix(')')?.to_owned());
    text.lines().filter_map(part).collect()
}

/// The part that holds an entry point: the one named in its form, `any` if none is.
pub(crate) fn part(stem: &str, function: &str) -> Option<&'static str> {
    let form = function.strip_prefix(stem)?;
    let names = |part: &str| {
        form.match_indices(part).any(|(at, _)| {
            let behind = &form[at + part.len()..];
            form[..at].ends_with('_') && (behind.is_empty() || behind.starts_with('_'))
        })
    };
    let parts = parts(stem);
    let part = parts.iter().find(|part| names(part)).or_else(|| parts.iter().find(|part| *part == "any"))?;
    Some(part)
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

#[cfg(test)]
mod tests {
    use super::{part, parts, stems, text};

    #[test]
    fn an_entry_point_names_the_part_that_holds_it() {
        let mut seen = 0;
        for stem in stems() {
            let mut inside = None;
            for line in text(stem).unwrap().lines() {
                match line.strip_prefix("#if PK_PART(").and_then(|rest| rest.strip_suffix(')')) {
                    Some(part) => inside = Some(part.to_owned()),
                    None if line == "#endif" => inside = None,
                    None => {}
                }
                let entry = line.strip_prefix("PK_KERNEL").and_then(|rest| rest.split_once('('));
                let Some((function, _)) = entry.and_then(|(_, rest)| rest.split_once(',')) else { continue };
                assert_eq!(part(stem, function), inside.as_deref(), "{function}");
                seen += 1;
            }
        }
        assert!(seen > 300, "{seen} entry points");
    }

    #[test]
    fn parts_cover_every_type_and_are_named_once() {
        assert!(parts("copy").is_empty());
        let of_product = parts("mul_mat");
        assert_eq!(of_product, parts("mul_mat_id"), "both take the same types");
        assert!(of_product.len() > 25);
        assert_eq!(part("mul_mat", "mul_mat_q8_iq2_xxs_4"), Some("iq2_xxs"));
        assert_eq!(part("mul_mat", "mul_mat_tile_iq4_nl"), Some("iq4_nl"));
        assert_eq!(part("mul_mat", "mul_mat_halves"), Some("any"));
        for stem in stems() {
            let mut names = parts(stem).to_vec();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), parts(stem).len(), "{stem}");
        }
    }
}
