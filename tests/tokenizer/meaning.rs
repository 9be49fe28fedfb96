//! What ids mean: ends, beginnings, kinds, padding.

use super::fixture::{AS_TEXT, WITH_SPECIAL, tokenizer, vocabulary};
use weft::tokenizer::{EncodeOptions, TokenKind, Tokenizer, TokenizerOptions};

const ADD_SPECIAL: EncodeOptions = EncodeOptions { add_special: true, parse_special: false };

#[test]
fn both_the_named_end_and_endoftext_end_a_generation() {
    for (name, ends) in [("demo", [0, 2]), ("tiny512", [509, 511]), ("smollm2", [0, 2])] {
        let tokenizer = tokenizer(name, None);
        assert_eq!(tokenizer.end_ids(), ends);
        assert!(tokenizer.is_end(ends[0]) && tokenizer.is_end(ends[1]) && !tokenizer.is_end(300));
        assert!(!tokenizer.is_end(u32::MAX));
    }
}

#[test]
fn a_beginning_is_added_only_where_the_file_asks() {
    let mut stored = vocabulary("demo");
    let plain = tokenizer("demo", None).encode("Hi", ADD_SPECIAL).unwrap();
    assert_eq!(plain, tokenizer("demo", None).encode("Hi", AS_TEXT).unwrap());
    (stored.add_bos, stored.add_eos) = (Some(true), Some(true));
    let with = Tokenizer::new(stored.clone(), TokenizerOptions::default()).unwrap();
    let expected: Vec<u32> = [0].into_iter().chain(plain.iter().copied()).chain([2]).collect();
    assert_eq!(with.encode("Hi", ADD_SPECIAL).unwrap(), expected);
    assert_eq!(with.encode("Hi", AS_TEXT).unwrap(), plain);
    (stored.add_bos, stored.add_eos, stored.pre) = (None, None, "llama-bpe".to_owned());
    let by_family = Tokenizer::new(stored, TokenizerOptions::default()).unwrap();
    assert_eq!(by_family.encode("Hi", ADD_SPECIAL).unwrap()[0], 0);
}

#[test]
fn padding_rows_are_outside_the_valid_ids() {
    let mut padded = vocabulary("tiny512");
    for row in 512..520 {
        padded.tokens.push(format!("[PAD{row}]"));
        padded.token_types.push(5);
    }
    let padded = Tokenizer::new(padded, TokenizerOptions::default()).unwrap();
    assert_eq!((padded.token_count(), padded.valid_ids()), (520, 512));
    assert_eq!(padded.token_kind(515), Ok(TokenKind::Unused));
    assert_eq!(padded.decode(&[515], true).unwrap(), b"");
    let ids = padded.encode("[PAD515]", WITH_SPECIAL).unwrap();
    assert!(ids.iter().all(|id| *id < 509));
}

#[test]
fn user_defined_tokens_are_one_token_in_every_mode() {
    let mut stored = vocabulary("tiny512");
    stored.tokens.push("<think>".to_owned());
    stored.token_types.push(4);
    let tokenizer = Tokenizer::new(stored, TokenizerOptions::default()).unwrap();
    for options in [AS_TEXT, WITH_SPECIAL] {
        assert_eq!(tokenizer.encode("<think>", options).unwrap(), [512]);
    }
    assert_eq!(tokenizer.special_id("<think>"), Some(512));
    assert_eq!(tokenizer.special_id("<|im_end|>"), Some(511));
    assert_eq!(tokenizer.special_id("think"), None);
    assert_eq!(tokenizer.special_id(""), None);
    assert_eq!(tokenizer.decode(&[512], false).unwrap(), b"<think>");
    assert!(tokenizer.encode("<|im_end|>", AS_TEXT).unwrap().iter().all(|id| *id < 509));
}

#[test]
fn the_longest_of_two_special_tokens_wins() {
    let mut stored = vocabulary("tiny512");
    for token in ["<a", "<a>"] {
        stored.tokens.push(token.to_owned());
        stored.token_types.push(3);
    }
    let tokenizer = Tokenizer::new(stored, TokenizerOptions::default()).unwrap();
    assert_eq!(tokenizer.encode("<a><a", WITH_SPECIAL).unwrap(), [513, 512]);
}

#[test]
fn a_control_token_is_never_made_from_plain_text() {
    let mut stored = vocabulary("demo");
    let hello = tokenizer("demo", None).encode(" the", AS_TEXT).unwrap();
    assert_eq!(hello.len(), 1);
    stored.token_types[hello[0] as usize] = 3;
    for pre in ["qwen35", "llama-bpe"] {
        stored.pre = pre.to_owned();
        let guarded = Tokenizer::new(stored.clone(), TokenizerOptions::default()).unwrap();
        assert!(!guarded.encode(" the", AS_TEXT).unwrap().contains(&hello[0]));
    }
}

#[test]
fn tokenizers_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>(value: T) -> T {
        value
    }
    let tokenizer = shared(tokenizer("demo", None));
    let expected = tokenizer.encode("Once upon a time", AS_TEXT).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let tokenizer = tokenizer.clone();
            std::thread::spawn(move || tokenizer.encode("Once upon a time", AS_TEXT).unwrap())
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

#[test]
fn families_differ_in_numbers_marks_and_contractions() {
    let words = |pre: &str, text: &str| {
        let mut stored = vocabulary("demo");
        stored.pre = pre.to_owned();
        let tokenizer = Tokenizer::new(stored, TokenizerOptions { nfc: Some(false) }).unwrap();
        tokenizer.encode(text, AS_TEXT).unwrap()
    };
    assert_eq!(words("llama3", "12345"), words("llama-bpe", "12345"));
    assert_eq!(words("qwen2", "12 it's"), words("qwen35", "12 it's"));
    for pre in ["qwen2", "qwen35", "smollm", "gpt-2", "llama-bpe"] {
        let text = "It's 12345\n\n  e\u{301}x DON'T ";
        let mut stored = vocabulary("demo");
        stored.pre = pre.to_owned();
        let tokenizer = Tokenizer::new(stored, TokenizerOptions { nfc: Some(false) }).unwrap();
        let ids = tokenizer.encode(text, AS_TEXT).unwrap();
        assert_eq!(tokenizer.decode(&ids, false).unwrap(), text.as_bytes(), "{pre}");
    }
}
