//! The tokenizer itself: encode, decode, and what its ids mean.

use std::sync::Arc;

use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::tokenizer::{Model, PreTokenizer};
use tokenizers::{OffsetType, PreTokenizedString};

use super::alphabet::{byte_of, char_of};
use super::family::Family;
use super::pieces::Pieces;
use super::special::{Part, SpecialTokens};
use super::{TokenKind, TokenizerError, Vocabulary, bpe, ends};

/// Longest run of whitespace that is read, in characters; the splitting expressions keep one entry of a bounded stack for
/// each character of a run.
const WHITESPACE_LIMIT: usize = 500_000;

/// Choices that a vocabulary leaves open.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenizerOptions {
    /// Whether text is brought into Unicode's composed form (NFC) first. `None`: as the family of the vocabulary was
    /// trained (Qwen yes, others no).
    pub nfc: Option<bool>,
}

/// How a text is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Put the beginning-of-text id in front (and the end-of-text id behind) where the vocabulary asks for it. Leave this
    /// off for the output of a chat template, which writes those tokens itself.
    pub add_special: bool,
    /// Read the text of special tokens as those tokens. Leave this off for text that a user may have written.
    pub parse_special: bool,
}

/// A byte-level BPE tokenizer. Cloning it is cheap; clones share everything.
#[derive(Clone)]
pub struct Tokenizer(Arc<Inner>);

struct Inner {
    bpe: BPE,
    splitter: Sequence,
    special: SpecialTokens,
    pieces: Pieces,
    /// Whether each byte has a token. One without cannot be encoded.
    encodable: Box<[bool; 256]>,
    nfc: bool,
    /// Put in front of a text.
    front: Option<u32>,
    /// Put behind a text.
    behind: Option<u32>,
    bos: Option<u32>,
    eos: Option<u32>,
    pad: Option<u32>,
    ends: Vec<u32>,
    pre: String,
}

impl Tokenizer {
    /// Builds a tokenizer.
    ///
    /// # Errors
    /// `Model`, `PreTokenizer`, `TokenCount`, `TokenTypes`, `SpecialId`, `MergeForm`, `MergePart`: the vocabulary is of
    /// another kind, or contradicts itself. `Library`: a part could not be built.
    pub fn new(vocabulary: Vocabulary, options: TokenizerOptions) -> Result<Self, TokenizerError> {
        let kinds = check(&vocabulary)?;
        let family = Family::named(&vocabulary.pre)?;
        let Vocabulary { tokens, merges, .. } = &vocabulary;
        let bpe = bpe::build(tokens, &kinds, merges, family.whole_words)?;
        let mut encodable = Box::new([true; 256]);
        for (byte, slot) in (0..=255).zip(encodable.iter_mut()) {
            *slot = bpe.token_to_id(char_of(byte).encode_utf8(&mut [0; 4])).is_some();
        }
        Ok(Self(Arc::new(Inner {
            splitter: family.splitter()?,
            special: SpecialTokens::new(tokens, &kinds)?,
            nfc: options.nfc.unwrap_or(family.nfc),
            front: vocabulary.bos.filter(|_| vocabulary.add_bos.unwrap_or(family.add_bos)),
            behind: vocabulary.eos.filter(|_| vocabulary.add_eos.unwrap_or(false)),
            bos: vocabulary.bos,
            eos: vocabulary.eos,
            pad: vocabulary.pad,
            ends: ends::end_ids(&vocabulary, &kinds),
            pieces: Pieces::new(tokens, kinds),
            pre: vocabulary.pre,
            encodable,
            bpe,
        })))
    }

    /// The ids of a text.
    ///
    /// # Errors
    /// `NoToken` if the vocabulary lacks a byte of the text, `Whitespace` for a run of whitespace beyond reason.
    pub fn encode(&self, text: &str, options: EncodeOptions) -> Result<Vec<u32>, TokenizerError> {
        let mut ids = Vec::with_capacity(text.len() / 3 + 2);
        ids.extend(self.0.front.filter(|_| options.add_special));
        for part in self.0.special.split(text, options.parse_special)? {
            match part {
                Part::Special(id) => ids.push(id),
                Part::Text(text) => self.0.encode_plain(text, &mut ids)?,
            }
        }
        ids.extend(self.0.behind.filter(|_| options.add_special));
        Ok(ids)
    }

    /// The bytes of a list of ids. A character may be split between tokens, so a part of a text need not be valid UTF-8.
    /// `show_special` writes out tokens that steer the model.
    ///
    /// # Errors
    /// `OutOfRange` for an id outside the vocabulary.
    pub fn decode(&self, ids: &[u32], show_special: bool) -> Result<Vec<u8>, TokenizerError> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for id in ids {
            bytes.extend_from_slice(self.shown(*id, show_special)?);
        }
        Ok(bytes)
    }

    /// The bytes that a token adds to a text.
    pub(super) fn shown(&self, id: u32, show_special: bool) -> Result<&[u8], TokenizerError> {
        self.0.pieces.shown(id, show_special)
    }

    /// The bytes of a token, special or not.
    ///
    /// # Errors
    /// `OutOfRange` for an id outside the vocabulary.
    pub fn token_bytes(&self, id: u32) -> Result<&[u8], TokenizerError> {
        Ok(self.0.pieces.get(id)?.0)
    }

    /// What a token is for.
    ///
    /// # Errors
    /// `OutOfRange` for an id outside the vocabulary.
    pub fn token_kind(&self, id: u32) -> Result<TokenKind, TokenizerError> {
        Ok(self.0.pieces.get(id)?.1)
    }

    /// The id of a special token by its text, such as `<think>`.
    pub fn special_id(&self, text: &str) -> Option<u32> {
        match self.0.special.split(text, true).ok()?.as_slice() {
            [Part::Special(id)] => Some(*id),
            _ => None,
        }
    }

    /// Whether a generation is over with this token.
    pub fn is_end(&self, id: u32) -> bool {
        self.0.ends.binary_search(&id).is_ok()
    }

    /// All ids that end a generation, in order.
    pub fn end_ids(&self) -> &[u32] {
        &self.0.ends
    }

    /// Number of tokens, unused ones included.
    pub fn token_count(&self) -> usize {
        self.0.pieces.len()
    }

    /// One more than the last id that has a meaning; the ids from there on only fill up the embedding table and must not
    /// be sampled.
    pub fn valid_ids(&self) -> u32 {
        u32::try_from(self.0.pieces.used()).unwrap_or(u32::MAX)
    }

    /// Id that begins a text.
    pub fn bos(&self) -> Option<u32> {
        self.0.bos
    }

    /// Id that ends a text.
    pub fn eos(&self) -> Option<u32> {
        self.0.eos
    }

    /// Id that fills unused places.
    pub fn pad(&self) -> Option<u32> {
        self.0.pad
    }

    /// Whether text is brought into Unicode's composed form (NFC) before it is encoded.
    pub fn nfc(&self) -> bool {
        self.0.nfc
    }

    /// The name of the splitting rule, as the file gives it.
    pub fn pre(&self) -> &str {
        &self.0.pre
    }
}

impl Inner {
    /// Appends the ids of a text without special tokens.
    fn encode_plain(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), TokenizerError> {
        check_whitespace(text)?;
        let mut words = PreTokenizedString::from(text);
        let failed = |error| TokenizerError::library("encode a text", &error);
        if self.nfc && !text.is_ascii() {
            let compose = |word: &mut tokenizers::NormalizedString| {
                word.nfc();
                Ok(())
            };
            words.normalize(compose).map_err(failed)?;
        }
        self.splitter.pre_tokenize(&mut words).map_err(failed)?;
        let missing = std::cell::Cell::new(None);
        let merge = |word: &tokenizers::NormalizedString| {
            if let Some(byte) = self.byte_without_token(word.get()) {
                missing.set(Some(byte));
            }
            self.bpe.tokenize(word.get())
        };
        words.tokenize(merge).map_err(failed)?;
        if let Some(byte) = missing.get() {
            return Err(TokenizerError::NoToken { byte });
        }
        let encoding = words.into_encoding(None, 0, OffsetType::None).map_err(failed)?;
        ids.extend_from_slice(encoding.get_ids());
        Ok(())
    }

    /// A byte of a word (written in the byte alphabet) that has no token; the merging model would drop it silently.
    fn byte_without_token(&self, word: &str) -> Option<u8> {
        word.chars().filter_map(byte_of).find(|byte| !self.encodable[usize::from(*byte)])
    }
}

/// The kinds of all tokens, after the lists and ids of a vocabulary have been held against each other.
fn check(vocabulary: &Vocabulary) -> Result<Vec<TokenKind>, TokenizerError> {
    if vocabulary.model != "gpt2" {
        return Err(TokenizerError::Model { model: vocabulary.model.clone() });
    }
    let (tokens, types) = (vocabulary.tokens.len(), vocabulary.token_types.len());
    let limit = i32::MAX as usize;
    if tokens == 0 || tokens > limit {
        return Err(TokenizerError::TokenCount { count: tokens, limit });
    }
    if types != 0 && types != tokens {
        return Err(TokenizerError::TokenTypes { tokens, types });
    }
    let special = [
        ("bos_token_id", vocabulary.bos),
        ("eos_token_id", vocabulary.eos),
        ("eot_token_id", vocabulary.eot),
        ("padding_token_id", vocabulary.pad),
    ];
    for (key, id) in special {
        if let Some(id) = id.filter(|id| usize::try_from(*id).map_or(true, |id| id >= tokens)) {
            return Err(TokenizerError::SpecialId { key, id, tokens });
        }
    }
    if types == 0 {
        return Ok(vec![TokenKind::Normal; tokens]);
    }
    Ok(vocabulary.token_types.iter().map(|number| TokenKind::of(*number)).collect())
}

/// Refuses a run of whitespace that the splitting expressions could not follow to its end.
fn check_whitespace(text: &str) -> Result<(), TokenizerError> {
    if text.len() <= WHITESPACE_LIMIT {
        return Ok(());
    }
    let mut length = 0;
    for character in text.chars() {
        length = if character.is_whitespace() { length + 1 } else { 0 };
        if length > WHITESPACE_LIMIT {
            return Err(TokenizerError::Whitespace { length, limit: WHITESPACE_LIMIT });
        }
    }
    Ok(())
}
