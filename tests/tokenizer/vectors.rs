//! Ids and decoded texts of 80 strings for each vocabulary, exact.

use super::fixture::{AS_TEXT, Vector, WITH_SPECIAL, tokenizer, vectors};
use weft::tokenizer::{EncodeOptions, Tokenizer};

fn same(name: &str, tokenizer: &Tokenizer, options: EncodeOptions, wanted: fn(&Vector) -> &[u32]) {
    let vectors = vectors(name);
    assert_eq!(vectors.len(), 80);
    for (index, vector) in vectors.iter().enumerate() {
        let ids = tokenizer.encode(&vector.text, options).unwrap();
        assert_eq!(ids, wanted(vector), "{name}: string {index}, {:?}", vector.text);
    }
}

fn all_forms(name: &str, default_nfc: bool) {
    let default = tokenizer(name, None);
    assert_eq!(default.nfc(), default_nfc, "{name}");
    same(name, &default, WITH_SPECIAL, |vector| &vector.ids);
    same(name, &default, AS_TEXT, |vector| &vector.ids_special_as_text);
    let without = tokenizer(name, Some(false));
    assert!(!without.nfc());
    same(name, &without, WITH_SPECIAL, |vector| &vector.ids_without_nfc);
    for vector in vectors(name) {
        let bytes = default.decode(&vector.ids, true).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), vector.decoded);
        let bytes = default.decode(&vector.ids_without_nfc, true).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), vector.text);
    }
}

#[test]
fn demo_vocabulary_gives_the_stored_ids() {
    all_forms("demo", true);
}

#[test]
fn tiny_vocabulary_gives_the_stored_ids() {
    all_forms("tiny512", true);
}

#[test]
fn smollm2_vocabulary_gives_the_stored_ids() {
    all_forms("smollm2", false);
}

#[test]
fn nfc_changes_the_same_strings_in_both_qwen_vocabularies() {
    for name in ["demo", "tiny512"] {
        let vectors = vectors(name);
        let changed = vectors.iter().enumerate().filter(|(_, vector)| vector.ids != vector.ids_without_nfc);
        assert_eq!(changed.map(|(index, _)| index).collect::<Vec<_>>(), [46, 47, 48]);
    }
}
