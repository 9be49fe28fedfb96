//! Models in several files, named `model-00001-of-00003.gguf` and so on.

use std::path::{Path, PathBuf};

use super::GgufError;
use super::header::Header;

/// The metadata key that counts the files of a model.
pub(super) const COUNT: &str = "split.count";

/// How many files the model of this header has.
pub(super) fn count(header: &Header) -> Result<u64, GgufError> {
    Ok(header.metadata.find::<u64>(COUNT)?.unwrap_or(1).max(1))
}

/// The paths of all `count` files of a model, given one of them.
pub(super) fn siblings(path: &Path, count: u64) -> Result<Vec<PathBuf>, GgufError> {
    let refused = || GgufError::SplitName { file: path.display().to_string(), count };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(refused)?;
    // A name that ends in `-00001-of-00003.gguf`, of 20 characters.
    let (stem, ending) =
        name.len().checked_sub(20).and_then(|at| name.split_at_checked(at)).ok_or_else(refused)?;
    let number = ending.strip_prefix('-').and_then(|ending| ending.get(..5)).ok_or_else(refused)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || ending != format!("-{number}-of-{count:05}.gguf") {
        return Err(refused());
    }
    Ok((1..=count)
        .map(|shard| path.with_file_name(format!("{stem}-{shard:05}-of-{count:05}.gguf")))
        .collect())
}

/// Checks that the headers are the files of one model, in order and complete.
pub(super) fn check(headers: &[Header]) -> Result<(), GgufError> {
    let Some(first) = headers.first() else { return Ok(()) };
    let given = headers.len() as u64;
    let count = count(first)?;
    if count != given {
        return Err(GgufError::Shards { file: first.metadata.file().to_owned(), given, count });
    }
    if count == 1 {
        return Ok(());
    }
    for (shard, header) in headers.iter().enumerate() {
        expect(header, "split.no", shard as u64)?;
        expect(header, COUNT, count)?;
    }
    let tensors = headers.iter().map(|header| header.tensors.len() as u64).sum();
    expect(first, "split.tensors.count", tensors)
}

fn expect(header: &Header, key: &'static str, want: u64) -> Result<(), GgufError> {
    let got = header.metadata.get::<u64>(key)?;
    if got != want {
        return Err(GgufError::Split { file: header.metadata.file().to_owned(), key, want, got });
    }
    Ok(())
}
