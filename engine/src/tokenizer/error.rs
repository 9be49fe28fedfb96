//! What can be wrong with a vocabulary, a text or an id.

/// Why a tokenizer could not be built, or could not encode or decode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The vocabulary is of a kind that weft does not read.
    #[error("tokenizer.ggml.model is \"{model}\", but weft reads byte-level BPE (\"gpt2\") only")]
    Model {
        /// What the file says.
        model: String,
    },
    /// The rule that splits text into words is not known.
    #[error("tokenizer.ggml.pre is \"{pre}\", which weft does not know; known: {known}")]
    PreTokenizer {
        /// What the file says.
        pre: String,
        /// The names that are known.
        known: String,
    },
    /// The vocabulary has no tokens, or more than ids can count.
    #[error("tokenizer.ggml.tokens has {count} entries; it must have between 1 and {limit}")]
    TokenCount {
        /// Number of tokens in the file.
        count: usize,
        /// Largest number allowed.
        limit: usize,
    },
    /// The list of token kinds does not fit the list of tokens.
    #[error("tokenizer.ggml.token_type has {types} entries for {tokens} tokens; one for each is needed")]
    TokenTypes {
        /// Number of tokens.
        tokens: usize,
        /// Number of kinds.
        types: usize,
    },
    /// A special id (bos, eos, …) points outside the vocabulary.
    #[error("tokenizer.ggml.{key} is {id}, but the vocabulary has {tokens} tokens")]
    SpecialId {
        /// The metadata key, without its prefix.
        key: &'static str,
        /// The id found there.
        id: u32,
        /// Number of tokens.
        tokens: usize,
    },
    /// A merge is not two parts with a space between them.
    #[error("merge {index} (\"{merge}\") is not two tokens separated by one space")]
    MergeForm {
        /// Position in the list of merges.
        index: usize,
        /// The merge as written.
        merge: String,
    },
    /// A merge names or makes something that is not a token.
    #[error("merge {index} (\"{merge}\") needs \"{part}\", which is not in the vocabulary")]
    MergePart {
        /// Position in the list of merges.
        index: usize,
        /// The merge as written.
        merge: String,
        /// The missing token.
        part: String,
    },
    /// A metadata key is missing or holds another type.
    #[error("the file's metadata cannot give a tokenizer: {reason}")]
    Metadata {
        /// What the reader of the file said.
        reason: String,
    },
    /// A library that the tokenizer stands on refused its input.
    #[error("the tokenizer could not {what}: {reason}")]
    Library {
        /// What was being done.
        what: &'static str,
        /// What the library said.
        reason: String,
    },
    /// An id is outside the vocabulary.
    #[error("token id {id} is out of range; the vocabulary has {tokens} tokens")]
    OutOfRange {
        /// The id.
        id: u32,
        /// Number of tokens.
        tokens: usize,
    },
    /// The vocabulary has no token for a byte of the text.
    #[error(
        "the text holds the byte {byte:#04x}, for which this vocabulary has no token; remove that character"
    )]
    NoToken {
        /// The byte.
        byte: u8,
    },
    /// A run of whitespace is longer than the splitting expression can follow.
    #[error(
        "the text holds {length} whitespace characters in a row; at most {limit} are read; shorten the run"
    )]
    Whitespace {
        /// Length of the run, in characters.
        length: usize,
        /// Longest run allowed.
        limit: usize,
    },
}
