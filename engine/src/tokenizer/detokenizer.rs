//! Token ids to text, one at a time, never cutting a character in two.

use super::{Tokenizer, TokenizerError};

/// Turns ids into text as they come.
///
/// Bytes that begin a character wait until the rest of it has come; bytes that cannot become one turn into U+FFFD, as in
/// [`String::from_utf8_lossy`]. What [`push`](Self::push) and [`finish`](Self::finish) return, put together, is exactly
/// that conversion of [`Tokenizer::decode`].
#[derive(Clone)]
pub struct Detokenizer {
    tokenizer: Tokenizer,
    show_special: bool,
    /// Bytes not yet given out: the beginning of a character.
    waiting: Vec<u8>,
    /// What the last call gave out.
    text: String,
}

impl Detokenizer {
    /// A detokenizer at the beginning of a text; `show_special` writes out tokens that steer the model.
    pub fn new(tokenizer: &Tokenizer, show_special: bool) -> Self {
        Self { tokenizer: tokenizer.clone(), show_special, waiting: Vec::new(), text: String::new() }
    }

    /// Takes one id and returns the text that has become complete, often nothing.
    ///
    /// # Errors
    /// `OutOfRange` if there is no such id; what was waiting stays.
    pub fn push(&mut self, id: u32) -> Result<&str, TokenizerError> {
        let bytes = self.tokenizer.shown(id, self.show_special)?;
        self.waiting.extend_from_slice(bytes);
        self.text.clear();
        let rest = complete(&self.waiting, &mut self.text);
        self.waiting.drain(..self.waiting.len() - rest);
        Ok(&self.text)
    }

    /// Ends the text: returns a replacement character if part of a character was waiting. The detokenizer is then at the
    /// beginning of a new text.
    pub fn finish(&mut self) -> &str {
        self.text.clear();
        if !self.waiting.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
            self.waiting.clear();
        }
        &self.text
    }

    /// Number of bytes that wait for the rest of their character.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// Appends what is complete in `bytes` to `text`; returns how many bytes at the end are not.
fn complete(mut bytes: &[u8], text: &mut String) -> usize {
    loop {
        let error = match std::str::from_utf8(bytes) {
            Ok(valid) => {
                text.push_str(valid);
                return 0;
            }
            Err(error) => error,
        };
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        text.push_str(std::str::from_utf8(valid).unwrap_or_default());
        match error.error_len() {
            None => return rest.len(),
            Some(length) => {
                text.push(char::REPLACEMENT_CHARACTER);
                bytes = &rest[length..];
            }
        }
    }
}
