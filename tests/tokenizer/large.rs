//! A vocabulary as large as the largest in use: 248,320 tokens.

use super::fixture::{AS_TEXT, WITH_SPECIAL, vocabulary};
use std::time::Instant;
use weft::tokenizer::{Tokenizer, TokenizerOptions, Vocabulary};

/// The demo vocabulary, grown to 248,320 rows by merging ever more pairs of its tokens.
fn grown() -> Vocabulary {
    let mut stored = vocabulary("demo");
    let mut known: std::collections::HashSet<String> = stored.tokens.iter().cloned().collect();
    let parts: Vec<String> = stored.tokens[259..1259].to_vec();
    'grow: for left in &parts {
        for right in &parts {
            if stored.tokens.len() == 248_077 {
                break 'grow;
            }
            let made = format!("{left}{right}");
            if known.insert(made.clone()) {
                stored.tokens.push(made);
                stored.merges.push(format!("{left} {right}"));
                stored.token_types.push(1);
            }
        }
    }
    for row in 248_077..248_320 {
        stored.tokens.push(format!("[PAD{row}]"));
        stored.token_types.push(5);
    }
    stored
}

#[test]
fn a_vocabulary_of_248_320_tokens_loads_and_encodes() {
    let stored = grown();
    assert_eq!(stored.tokens.len(), 248_320);
    let start = Instant::now();
    let tokenizer = Tokenizer::new(stored, TokenizerOptions::default()).unwrap();
    println!("load: {:?} for {} tokens", start.elapsed(), tokenizer.token_count());
    assert_eq!(tokenizer.valid_ids(), 248_077);
    let story =
        "Once upon a time, there was a little robot who wanted to learn how to paint.\n".repeat(4_000);
    for (label, options) in [("text", AS_TEXT), ("special", WITH_SPECIAL)] {
        let start = Instant::now();
        let ids = tokenizer.encode(&story, options).unwrap();
        println!("encode ({label}): {:?} for {} bytes, {} ids", start.elapsed(), story.len(), ids.len());
        assert_eq!(tokenizer.decode(&ids, false).unwrap(), story.as_bytes());
    }
}
