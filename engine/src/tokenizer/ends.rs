//! Which tokens end a generation.

use super::{TokenKind, Vocabulary};

/// Texts of special tokens that end a turn or a text in the public model families.
const END_TEXTS: [&str; 15] = [
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|return|>",
    "<|call|>",
    "<end_of_turn>",
    "<end_of_utterance>",
    "<｜end▁of▁sentence｜>",
    "</s>",
    "<eos>",
    "[EOS]",
    "<EOT>",
];

/// The ids, in order: those that the file names, and every special token with one of the known texts.
pub(super) fn end_ids(vocabulary: &Vocabulary, kinds: &[TokenKind]) -> Vec<u32> {
    let mut ids: Vec<u32> = [vocabulary.eos, vocabulary.eot].into_iter().flatten().collect();
    let texts = (0u32..).zip(&vocabulary.tokens).zip(kinds);
    ids.extend(
        texts
            .filter(|((_, text), kind)| {
                matches!(kind, TokenKind::Control | TokenKind::UserDefined)
                    && END_TEXTS.contains(&text.as_str())
            })
            .map(|((id, _), _)| id),
    );
    ids.sort_unstable();
    ids.dedup();
    ids
}
