//! The bytes of every token, for decoding.

use super::alphabet::byte_of;
use super::{TokenKind, TokenizerError};

/// Bytes and kinds of all tokens, in one block.
pub(super) struct Pieces {
    bytes: Vec<u8>,
    /// End of each token's bytes; it begins where the one before ends.
    ends: Vec<usize>,
    kinds: Vec<TokenKind>,
}

impl Pieces {
    /// Decodes the byte alphabet of ordinary tokens; the others stand as written. An ordinary token with a character
    /// outside the alphabet stands as written, too.
    pub fn new(tokens: &[String], kinds: Vec<TokenKind>) -> Self {
        let mut bytes = Vec::with_capacity(tokens.iter().map(String::len).sum());
        let mut ends = Vec::with_capacity(tokens.len());
        for (token, kind) in tokens.iter().zip(&kinds) {
            let start = bytes.len();
            let mut plain = *kind == TokenKind::Normal;
            if plain {
                bytes.extend(token.chars().map_while(byte_of));
                plain = token.chars().count() == bytes.len() - start;
            }
            if !plain {
                bytes.truncate(start);
                bytes.extend_from_slice(token.as_bytes());
            }
            ends.push(bytes.len());
        }
        Self { bytes, ends, kinds }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes and kind of a token.
    ///
    /// # Errors
    /// `OutOfRange` if there is no such id.
    pub fn get(&self, id: u32) -> Result<(&[u8], TokenKind), TokenizerError> {
        let missing = || TokenizerError::OutOfRange { id, tokens: self.len() };
        let index = usize::try_from(id).map_err(|_| missing())?;
        let (end, kind) = self.ends.get(index).zip(self.kinds.get(index)).ok_or_else(missing)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Ok((&self.bytes[start..*end], *kind))
    }

    /// The bytes that a reader of the text sees: nothing for an unused token, and nothing for one that steers the model
    /// unless `show_special`.
    ///
    /// # Errors
    /// `OutOfRange` if there is no such id.
    pub fn shown(&self, id: u32, show_special: bool) -> Result<&[u8], TokenizerError> {
        let (bytes, kind) = self.get(id)?;
        Ok(match kind {
            TokenKind::Normal | TokenKind::UserDefined => bytes,
            TokenKind::Control | TokenKind::Unknown if show_special => bytes,
            TokenKind::Control | TokenKind::Unknown | TokenKind::Unused => &[],
        })
    }

    /// One more than the last id that is not unused.
    pub fn used(&self) -> usize {
        self.kinds.iter().rposition(|kind| *kind != TokenKind::Unused).map_or(0, |last| last + 1)
    }
}
