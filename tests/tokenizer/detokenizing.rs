//! Text that comes out one id at a time.

use super::fixture::{tokenizer, vectors};
use proptest::prelude::*;
use weft::tokenizer::{Detokenizer, TokenizerError};

fn one_by_one(name: &str, ids: &[u32], show_special: bool) -> String {
    let mut detokenizer = Detokenizer::new(&tokenizer(name, None), show_special);
    let mut text = String::new();
    for id in ids {
        text.push_str(detokenizer.push(*id).unwrap());
        assert!(detokenizer.waiting() < 4);
    }
    text.push_str(detokenizer.finish());
    text
}

#[test]
fn every_vector_comes_back_one_id_at_a_time() {
    for name in ["demo", "tiny512", "smollm2"] {
        let mut detokenizer = Detokenizer::new(&tokenizer(name, None), true);
        for vector in vectors(name) {
            let mut text = String::new();
            for id in &vector.ids {
                text.push_str(detokenizer.push(*id).unwrap());
                assert!(vector.decoded.starts_with(&text), "{name}: {:?}", vector.text);
            }
            assert_eq!(detokenizer.finish(), "");
            assert_eq!(text, vector.decoded, "{name}");
        }
    }
}

#[test]
fn special_tokens_are_hidden_unless_asked_for() {
    let story = [1, 410, 2];
    assert_eq!(one_by_one("demo", &story, false), "user");
    assert_eq!(one_by_one("demo", &story, true), "<|im_start|>user<|im_end|>");
    assert_eq!(tokenizer("demo", None).decode(&story, false).unwrap(), b"user");
}

#[test]
fn a_character_waits_for_its_last_byte() {
    let tokenizer = tokenizer("tiny512", None);
    let ids = tokenizer.encode("🦀", super::fixture::AS_TEXT).unwrap();
    assert!(ids.len() > 1);
    let mut detokenizer = Detokenizer::new(&tokenizer, false);
    for id in &ids[..ids.len() - 1] {
        assert_eq!(detokenizer.push(*id).unwrap(), "");
    }
    assert_eq!(detokenizer.push(ids[ids.len() - 1]).unwrap(), "🦀");
    detokenizer.push(ids[0]).unwrap();
    assert_eq!(detokenizer.finish(), "\u{fffd}");
    assert_eq!(detokenizer.finish(), "");
}

#[test]
fn an_id_out_of_range_is_an_error_and_leaves_the_text_alone() {
    let tokenizer = tokenizer("tiny512", None);
    let error = TokenizerError::OutOfRange { id: 512, tokens: 512 };
    assert_eq!(tokenizer.decode(&[0, 512], true), Err(error.clone()));
    assert_eq!(tokenizer.token_bytes(512), Err(error.clone()));
    let mut detokenizer = Detokenizer::new(&tokenizer, true);
    detokenizer.push(136).unwrap();
    assert_eq!(detokenizer.push(512), Err(error));
    assert_eq!(detokenizer.push(98).unwrap(), "\u{325}");
}

proptest! {
    #[test]
    fn any_ids_give_the_lossy_text_of_their_bytes(ids in prop::collection::vec(0u32..512, 0..60)) {
        let tokenizer = tokenizer("tiny512", None);
        let bytes = tokenizer.decode(&ids, true).unwrap();
        prop_assert_eq!(one_by_one("tiny512", &ids, true), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_comes_back_without_nfc(text in any::<String>()) {
        let tokenizer = tokenizer("tiny512", Some(false));
        let ids = tokenizer.encode(&text, super::fixture::AS_TEXT).unwrap();
        prop_assert_eq!(String::from_utf8(tokenizer.decode(&ids, true).unwrap()).unwrap(), text);
    }
}
