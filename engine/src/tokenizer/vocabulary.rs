//! What a tokenizer is built from: the plain lists of a model file.

/// The tokens, merges and special ids of a model file, as its metadata gives them.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// `tokenizer.ggml.model`; must be `gpt2` (byte-level BPE).
    pub model: String,
    /// `tokenizer.ggml.pre`: which rule splits text into words.
    pub pre: String,
    /// `tokenizer.ggml.tokens`: the text of each id, ordinary ones in the byte alphabet.
    pub tokens: Vec<String>,
    /// `tokenizer.ggml.token_type`: one number for each token (see [`TokenKind`]), or empty if all are ordinary.
    pub token_types: Vec<i32>,
    /// `tokenizer.ggml.merges`: two tokens with a space between them, the earliest merged first.
    pub merges: Vec<String>,
    /// Id that begins a text.
    pub bos: Option<u32>,
    /// Id that ends a text.
    pub eos: Option<u32>,
    /// Id that ends a turn, where the file names one besides `eos`.
    pub eot: Option<u32>,
    /// Id that fills unused places.
    pub pad: Option<u32>,
    /// Whether a text begins with `bos`; `None` leaves it to the rule of `pre`.
    pub add_bos: Option<bool>,
    /// Whether a text ends with `eos`; `None` means no.
    pub add_eos: Option<bool>,
}

/// What a token is for. The numbers are those of `tokenizer.ggml.token_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// A piece of text (1, and any number not listed here).
    Normal,
    /// Stands for what the vocabulary cannot write (2).
    Unknown,
    /// Steers the model, such as the mark of a turn; never made from plain text (3).
    Control,
    /// Text that is always one token, such as `<think>` (4).
    UserDefined,
    /// A row without meaning that only fills up the embedding table (5).
    Unused,
}

impl TokenKind {
    /// The kind that a file's number means.
    pub(super) fn of(number: i32) -> Self {
        match number {
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            _ => Self::Normal,
        }
    }
}
