//! The families of pre-tokenizers: how text is cut into words before merging, and what else belongs to each.

use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use super::TokenizerError;

/// One number character at a time.
const EACH_NUMBER: &str = r"\p{N}";
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const LLAMA_BPE: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const QWEN2: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
/// As `QWEN2`, with marks counted among the letters.
const QWEN35: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// One family: its names in `tokenizer.ggml.pre` and its rules.
#[derive(Debug)]
pub(super) struct Family {
    names: &'static [&'static str],
    /// Expressions applied one after the other, each cutting the pieces of the one before.
    patterns: &'static [&'static str],
    /// Whether the models of this family were trained on text in Unicode's composed form (NFC).
    pub nfc: bool,
    /// Whether a text begins with `bos` unless the file says otherwise.
    pub add_bos: bool,
    /// Whether a word that is itself a token becomes that token whatever the merges say.
    pub whole_words: bool,
}

const FAMILIES: [Family; 5] = [
    Family { names: &["qwen35"], patterns: &[QWEN35], nfc: true, add_bos: false, whole_words: false },
    Family {
        names: &["qwen2", "deepseek-r1-qwen"],
        patterns: &[QWEN2],
        nfc: true,
        add_bos: false,
        whole_words: false,
    },
    Family {
        names: &["smollm"],
        patterns: &[EACH_NUMBER, GPT2],
        nfc: false,
        add_bos: false,
        whole_words: false,
    },
    Family { names: &["gpt-2", "gpt2"], patterns: &[GPT2], nfc: false, add_bos: false, whole_words: false },
    Family {
        names: &["llama-bpe", "llama3", "llama-v3"],
        patterns: &[LLAMA_BPE],
        nfc: false,
        add_bos: true,
        whole_words: true,
    },
];

impl Family {
    /// The family that a file names.
    ///
    /// # Errors
    /// `PreTokenizer` if no family has that name.
    pub fn named(pre: &str) -> Result<&'static Self, TokenizerError> {
        FAMILIES.iter().find(|family| family.names.contains(&pre)).ok_or_else(|| {
            let known: Vec<_> = FAMILIES.iter().flat_map(|family| family.names).copied().collect();
            TokenizerError::PreTokenizer { pre: pre.to_owned(), known: known.join(", ") }
        })
    }

    /// The splitter: the family's expressions, then bytes written in the byte alphabet.
    ///
    /// # Errors
    /// `Library` if an expression does not compile.
    pub fn splitter(&self) -> Result<Sequence, TokenizerError> {
        let mut steps: Vec<PreTokenizerWrapper> = Vec::with_capacity(self.patterns.len() + 1);
        for pattern in self.patterns {
            let pattern = SplitPattern::Regex((*pattern).to_owned());
            let step = Split::new(pattern, SplitDelimiterBehavior::Isolated, false)
                .map_err(|error| TokenizerError::library("compile a splitting expression", &error))?;
            steps.push(step.into());
        }
        steps.push(ByteLevel::new(false, true, false).into());
        Ok(Sequence::new(steps))
    }
}

impl TokenizerError {
    /// An error of a library, with what was being done.
    pub(super) fn library(what: &'static str, error: &dyn std::fmt::Display) -> Self {
        Self::Library { what, reason: error.to_string() }
    }
}
