//! A small file damaged at every place gives a typed error or a model, and never a panic.

use weft::gguf::Gguf;

use crate::raw::{tiny, walk};

#[test]
fn a_file_cut_anywhere_is_refused() {
    let whole = tiny();
    // The last bytes are padding that no tensor needs.
    let needed = whole.len() - 12;
    for length in 0..whole.len() {
        let model = Gguf::from_bytes("t.gguf", whole[..length].to_vec());
        assert_eq!(model.is_ok(), length >= needed, "{length} of {}", whole.len());
        if let Err(error) = model {
            assert!(error.to_string().starts_with("t.gguf: "), "{error}");
        }
    }
}

#[test]
fn any_flipped_bit_of_the_head_is_survived() {
    let whole = tiny();
    let head = whole.len() - 128 - 32;
    let (mut read, mut refused) = (0, 0);
    for at in 0..head {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            match Gguf::from_bytes("t.gguf", bytes) {
                Ok(model) => {
                    walk(&model);
                    read += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().contains('\n'), "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}

#[test]
fn any_byte_of_the_head_set_to_an_extreme_is_survived() {
    let whole = tiny();
    for at in 0..whole.len() - 160 {
        for width in [1, 4, 8] {
            for byte in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at..at + width].fill(byte);
                if let Ok(model) = Gguf::from_bytes("t.gguf", bytes) {
                    walk(&model);
                }
            }
        }
    }
}
