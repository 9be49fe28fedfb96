//! Text to token ids and back, by byte-level byte-pair encoding, from the vocabulary that a model file carries.

mod alphabet;
mod bpe;
mod detokenizer;
mod ends;
mod error;
mod family;
mod pieces;
mod read;
mod special;
mod text;
mod vocabulary;

pub use detokenizer::Detokenizer;
pub use error::TokenizerError;
pub use text::{EncodeOptions, Tokenizer, TokenizerOptions};
pub use vocabulary::{TokenKind, Vocabulary};
