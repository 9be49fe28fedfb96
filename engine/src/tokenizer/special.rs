//! Special tokens written out in a text, found before anything else is done with it.

use aho_corasick::{AhoCorasick, MatchKind};

use super::{TokenKind, TokenizerError};

/// A part of a text.
pub(super) enum Part<'text> {
    /// Text between special tokens, never empty.
    Text(&'text str),
    /// A special token.
    Special(u32),
}

/// Finders for special tokens.
pub(super) struct SpecialTokens {
    /// Control, unknown and user-defined tokens.
    all: Finder,
    /// User-defined tokens only, which are one token even where special tokens are read as plain text.
    user_defined: Finder,
}

impl SpecialTokens {
    /// Builds the finders.
    ///
    /// # Errors
    /// `Library` if there are more patterns than the search can hold.
    pub fn new(tokens: &[String], kinds: &[TokenKind]) -> Result<Self, TokenizerError> {
        let finder = |wanted: &[TokenKind]| {
            let chosen = (0u32..).zip(tokens).zip(kinds);
            let chosen = chosen.filter(|((_, token), kind)| wanted.contains(kind) && !token.is_empty());
            Finder::new(chosen.map(|(entry, _)| entry).collect())
        };
        Ok(Self {
            all: finder(&[TokenKind::Control, TokenKind::Unknown, TokenKind::UserDefined])?,
            user_defined: finder(&[TokenKind::UserDefined])?,
        })
    }

    /// Cuts `text` at its special tokens: the leftmost first, of several the longest.
    ///
    /// # Errors
    /// `Library` if the search refuses the text.
    pub fn split<'text>(
        &self,
        text: &'text str,
        parse_special: bool,
    ) -> Result<Vec<Part<'text>>, TokenizerError> {
        if parse_special { self.all.split(text) } else { self.user_defined.split(text) }
    }
}

/// A search for a set of texts.
struct Finder {
    /// `None` where there is nothing to find.
    search: Option<AhoCorasick>,
    ids: Vec<u32>,
}

impl Finder {
    fn new(entries: Vec<(u32, &String)>) -> Result<Self, TokenizerError> {
        let (ids, texts): (Vec<u32>, Vec<&String>) = entries.into_iter().unzip();
        if ids.is_empty() {
            return Ok(Self { search: None, ids });
        }
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        let search = search.map_err(|error| TokenizerError::library("index the special tokens", &error))?;
        Ok(Self { search: Some(search), ids })
    }

    fn split<'text>(&self, text: &'text str) -> Result<Vec<Part<'text>>, TokenizerError> {
        let mut parts = Vec::new();
        let mut start = 0;
        if let Some(search) = &self.search {
            let found = search
                .try_find_iter(text)
                .map_err(|error| TokenizerError::library("search for special tokens", &error))?;
            for found in found {
                if start < found.start() {
                    parts.push(Part::Text(&text[start..found.start()]));
                }
                parts.push(Part::Special(self.ids[found.pattern().as_usize()]));
                start = found.end();
            }
        }
        if start < text.len() {
            parts.push(Part::Text(&text[start..]));
        }
        Ok(parts)
    }
}
