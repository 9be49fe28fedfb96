//! The merging model, built from tokens and merges that are checked first.

use std::collections::HashSet;

use tokenizers::models::bpe::{BPE, Merges, Vocab};

use super::{TokenKind, TokenizerError};

/// Builds the merging model.
///
/// Only tokens that plain text may become are in it: a control, unknown or unused token is never made by merging, and
/// merges that name or make one are left out.
///
/// # Errors
/// `MergeForm` and `MergePart` for a merge that cannot be read, `Library` if the model cannot be built.
pub(super) fn build(
    tokens: &[String],
    kinds: &[TokenKind],
    merges: &[String],
    whole_words: bool,
) -> Result<BPE, TokenizerError> {
    let mut vocab = Vocab::default();
    vocab.reserve(tokens.len());
    let mut barred = HashSet::new();
    for ((id, token), kind) in (0u32..).zip(tokens).zip(kinds) {
        if matches!(kind, TokenKind::Normal | TokenKind::UserDefined) {
            vocab.insert(token.clone(), id);
        } else {
            barred.insert(token.as_str());
        }
    }
    let merges = read_merges(merges, &vocab, &barred)?;
    BPE::builder()
        .vocab_and_merges(vocab, merges)
        .ignore_merges(whole_words)
        .build()
        .map_err(|error| TokenizerError::library("build the merging model", &error))
}

/// The merges as pairs. Both parts and what they make are looked up here, because the library's own builder relies on
/// no merge being longer than the longest token.
fn read_merges(merges: &[String], vocab: &Vocab, barred: &HashSet<&str>) -> Result<Merges, TokenizerError> {
    let mut pairs = Vec::with_capacity(merges.len());
    let mut made = String::new();
    for (index, merge) in merges.iter().enumerate() {
        let (left, right) =
            halves(merge).ok_or_else(|| TokenizerError::MergeForm { index, merge: shortened(merge) })?;
        made.clear();
        made.push_str(left);
        made.push_str(right);
        match [left, right, &made].into_iter().find(|part| !vocab.contains_key(*part)) {
            None => pairs.push((left.to_owned(), right.to_owned())),
            Some(part) if barred.contains(part) => {}
            Some(part) => {
                let (merge, part) = (shortened(merge), shortened(part));
                return Err(TokenizerError::MergePart { index, merge, part });
            }
        }
    }
    Ok(pairs)
}

/// Cuts at the only space.
fn halves(merge: &str) -> Option<(&str, &str)> {
    let (left, right) = merge.split_once(' ')?;
    (!left.is_empty() && !right.is_empty() && !right.contains(' ')).then_some((left, right))
}

/// At most 60 characters of a text that goes into a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
