//! The vocabulary of a GGUF file.

use super::{Tokenizer, TokenizerOptions, Vocabulary};
use crate::Error;
use crate::gguf::{Gguf, Strings};

impl Vocabulary {
    /// Reads the lists and ids of `tokenizer.ggml.*`. Tokens that are not UTF-8 are read lossily: no encoder can meet them.
    ///
    /// # Errors
    /// A key is missing or of another type.
    pub fn read(gguf: &Gguf) -> Result<Self, Error> {
        let key = |name: &str| format!("tokenizer.ggml.{name}");
        let strings = |list: Strings<'_>| list.map(|s| String::from_utf8_lossy(s).into_owned()).collect();
        let id = |name: &str| gguf.find::<u32>(&key(name));
        Ok(Vocabulary {
            model: gguf.get_str(&key("model"))?.to_owned(),
            pre: gguf.find::<&str>(&key("pre"))?.unwrap_or("gpt2").to_owned(),
            tokens: strings(gguf.get(&key("tokens"))?),
            token_types: gguf.find(&key("token_type"))?.unwrap_or_default(),
            merges: gguf.find(&key("merges"))?.map(strings).unwrap_or_default(),
            bos: id("bos_token_id")?,
            eos: id("eos_token_id")?,
            eot: id("eot_token_id")?,
            pad: id("padding_token_id")?,
            add_bos: gguf.find(&key("add_bos_token"))?,
            add_eos: gguf.find(&key("add_eos_token"))?,
        })
    }
}

impl Tokenizer {
    /// The tokenizer of a GGUF file.
    ///
    /// # Errors
    /// Its keys are missing or wrong, or its vocabulary is of another kind or contradicts itself.
    pub fn from_gguf(gguf: &Gguf, options: TokenizerOptions) -> Result<Self, Error> {
        Ok(Self::new(Vocabulary::read(gguf)?, options)?)
    }
}
