//! Vocabularies and texts that are refused, each with an error that names what is wrong.

use super::fixture::{AS_TEXT, tokenizer, vocabulary};
use weft::tokenizer::{Tokenizer, TokenizerError, TokenizerOptions, Vocabulary};

fn refusal(change: impl FnOnce(&mut Vocabulary)) -> TokenizerError {
    let mut stored = vocabulary("tiny512");
    change(&mut stored);
    match Tokenizer::new(stored, TokenizerOptions::default()) {
        Ok(_) => panic!("accepted"),
        Err(error) => error,
    }
}

#[test]
fn contradictions_in_a_vocabulary_are_named() {
    let error = refusal(|stored| stored.model = "llama".to_owned());
    assert_eq!(error, TokenizerError::Model { model: "llama".to_owned() });
    let error = refusal(|stored| stored.pre = "unheard-of".to_owned());
    assert!(error.to_string().contains("unheard-of") && error.to_string().contains("qwen35"), "{error}");
    let error = refusal(|stored| stored.tokens.clear());
    assert!(matches!(error, TokenizerError::TokenCount { count: 0, .. }));
    let error = refusal(|stored| stored.token_types.truncate(5));
    assert_eq!(error, TokenizerError::TokenTypes { tokens: 512, types: 5 });
    let error = refusal(|stored| stored.eos = Some(512));
    assert_eq!(error, TokenizerError::SpecialId { key: "eos_token_id", id: 512, tokens: 512 });
}

#[test]
fn merges_that_cannot_be_read_are_named() {
    for merge in ["", " ", "a", "a ", " a", "a b c", "a  b"] {
        let error = refusal(|stored| stored.merges.push(merge.to_owned()));
        assert_eq!(error, TokenizerError::MergeForm { index: 253, merge: merge.to_owned() });
    }
    let error = refusal(|stored| stored.merges.push("a nonsense".to_owned()));
    assert!(matches!(error, TokenizerError::MergePart { index: 253, part, .. } if part == "nonsense"));
    let long = "=".repeat(4) + " " + &"a".repeat(4);
    let error = refusal(|stored| stored.merges.push(long));
    assert!(matches!(error, TokenizerError::MergePart { index: 253, .. }));
}

#[test]
fn a_merge_longer_than_every_token_is_an_error_not_a_panic() {
    let mut stored = vocabulary("tiny512");
    let longest = stored.tokens[..509].iter().max_by_key(|token| token.len()).unwrap().clone();
    stored.merges.push(format!("{longest} {longest}"));
    let error = Tokenizer::new(stored, TokenizerOptions::default()).err().unwrap();
    assert!(matches!(error, TokenizerError::MergePart { .. }), "{error}");
}

#[test]
fn a_byte_without_a_token_is_an_error_not_a_gap() {
    let tokenizer = tokenizer("smollm2", None);
    assert_eq!(tokenizer.encode("a\u{4}b", AS_TEXT), Err(TokenizerError::NoToken { byte: 4 }));
    assert!(tokenizer.encode("a\u{3}b", AS_TEXT).is_ok());
}

#[test]
fn long_runs_of_one_kind_are_read_to_their_end() {
    let tokenizer = tokenizer("tiny512", None);
    for unit in [" ", "\n", "a", "1", "!", "é", "\u{301}", "'", " \n", "a ", "<"] {
        let text = unit.repeat(250_000 / unit.chars().count().max(1)) + "x";
        let ids = tokenizer.encode(&text, AS_TEXT).unwrap();
        let bytes = tokenizer.decode(&ids, false).unwrap();
        assert_eq!(bytes.len(), text.len(), "{unit:?}");
        assert!(bytes == text.as_bytes(), "{unit:?}");
    }
    let error = tokenizer.encode(&" ".repeat(500_001), AS_TEXT);
    assert!(matches!(error, Err(TokenizerError::Whitespace { .. })));
}

#[test]
fn odd_tokens_do_not_stop_a_vocabulary_from_loading() {
    let mut stored = vocabulary("tiny512");
    for (token, kind) in [("", 3), ("", 1), ("<|im_end|>", 3), ("漢 字", 1), ("a\u{0}", 99), ("x", -7)] {
        stored.tokens.push(token.to_owned());
        stored.token_types.push(kind);
    }
    let tokenizer = Tokenizer::new(stored, TokenizerOptions::default()).unwrap();
    assert_eq!(tokenizer.decode(&[515], true).unwrap(), "漢 字".as_bytes());
    assert_eq!(tokenizer.decode(&[512, 513], true).unwrap(), b"");
    assert!(tokenizer.encode("abc", AS_TEXT).is_ok());
}
