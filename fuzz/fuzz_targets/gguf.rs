//! Any bytes are a model or a typed error; whatever a model promises can be read.
//!
//! From the repository's root, on a stable toolchain, one line:
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run gguf fuzz/corpus/gguf fuzz/seeds/gguf -- -dict=fuzz/gguf.dict -max_len=16384
//! -malloc_limit_mb=64 -max_total_time=600`
#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use weft::gguf::{Array, Gguf, GgufError, Strings};

fuzz_target!(|bytes: &[u8]| {
    check(Gguf::from_bytes("fuzz", bytes.to_vec()), true);
    check(Gguf::from_head("fuzz", bytes.to_vec()), false);
});

fn check(model: Result<Gguf, GgufError>, has_data: bool) {
    match model {
        Ok(model) => {
            walk_metadata(&model);
            walk_tensors(&model, has_data);
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}

fn walk_metadata(model: &Gguf) {
    for (key, value) in model.metadata().iter() {
        black_box(value.to_string());
        if let Ok(Some(strings)) = model.find::<Strings>(key) {
            let promised = strings.len();
            assert_eq!(strings.map(black_box).count(), promised);
        }
        if let Ok(Some(array)) = model.find::<&Array>(key) {
            assert!(array.scalars().count() as u64 <= array.len());
        }
        let _ = black_box(model.find::<&str>(key));
        let _ = black_box(model.find::<bool>(key));
        let _ = black_box(model.find::<f32>(key));
        let _ = black_box(model.find::<Vec<f32>>(key));
        let _ = black_box(model.find::<Vec<u64>>(key));
        let _ = black_box(model.metadata().find_per_layer::<u32>(key, 3));
    }
}

fn walk_tensors(model: &Gguf, has_data: bool) {
    for entry in model.tensors() {
        assert_eq!(model.find_tensor(&entry.name), Some(entry));
        assert!(entry.values() > 0 && entry.row_bytes() > 0);
        assert_eq!(entry.extents().len(), entry.dims);
        match model.tensor_bytes(entry) {
            Ok(bytes) => {
                assert_eq!(bytes.len() as u64, entry.bytes);
                black_box(bytes.as_ref().iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
            }
            Err(error) => assert!(!has_data, "{error}"),
        }
    }
}
