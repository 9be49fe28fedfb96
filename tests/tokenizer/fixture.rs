//! The vocabularies and vectors of `fixtures/tokenizer`.

use serde_json::Value;
use weft::tokenizer::{EncodeOptions, Tokenizer, TokenizerOptions, Vocabulary};

/// Plain text in which special tokens are recognised.
pub const WITH_SPECIAL: EncodeOptions = EncodeOptions { add_special: false, parse_special: true };
/// Plain text and nothing else.
pub const AS_TEXT: EncodeOptions = EncodeOptions { add_special: false, parse_special: false };

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/tokenizer/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn number(value: &Value) -> u32 {
    value.as_u64().unwrap().try_into().unwrap()
}

/// The vocabulary stored as `name.json.zst`.
pub fn vocabulary(name: &str) -> Vocabulary {
    let raw = zstd::decode_all(bytes(&format!("{name}.json.zst")).as_slice()).unwrap();
    let stored: Value = serde_json::from_slice(&raw).unwrap();
    let merges = texts(&stored["merges"]);
    let mut tokens = texts(&stored["head"]);
    tokens.extend(merges.iter().map(|merge| merge.replacen(' ', "", 1)));
    tokens.extend(texts(&stored["tail"]));
    let mut token_types = vec![1; tokens.len()];
    for id in stored["controls"].as_array().unwrap() {
        token_types[number(id) as usize] = 3;
    }
    Vocabulary {
        model: "gpt2".to_owned(),
        pre: stored["pre"].as_str().unwrap().to_owned(),
        tokens,
        token_types,
        merges,
        bos: Some(number(&stored["bos"])),
        eos: Some(number(&stored["eos"])),
        eot: None,
        pad: Some(number(&stored["pad"])),
        add_bos: stored["add_bos"].as_bool(),
        add_eos: None,
    }
}

/// A tokenizer on a stored vocabulary.
pub fn tokenizer(name: &str, nfc: Option<bool>) -> Tokenizer {
    Tokenizer::new(vocabulary(name), TokenizerOptions { nfc }).unwrap()
}

/// One text with the ids that it must give.
pub struct Vector {
    pub text: String,
    pub ids: Vec<u32>,
    pub ids_without_nfc: Vec<u32>,
    pub ids_special_as_text: Vec<u32>,
    pub decoded: String,
}

/// The vectors stored for a vocabulary. A list that is not stored equals `ids`, a decoded text not stored the text.
pub fn vectors(name: &str) -> Vec<Vector> {
    let stored: Value = serde_json::from_slice(&bytes(&format!("vectors-{name}.json"))).unwrap();
    let list = stored["vectors"].as_array().unwrap();
    let read = |vector: &Value| {
        let text = vector["text"].as_str().unwrap().to_owned();
        let ids = |key: &str| {
            let ids = vector.get(key).unwrap_or(&vector["ids"]);
            ids.as_array().unwrap().iter().map(number).collect()
        };
        Vector {
            ids: ids("ids"),
            ids_without_nfc: ids("ids_without_nfc"),
            ids_special_as_text: ids("ids_special_as_text"),
            decoded: vector["decoded"].as_str().unwrap_or(&text).to_owned(),
            text,
        }
    };
    list.iter().map(read).collect()
}
