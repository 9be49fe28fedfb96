//! Each way in which a file can be wrong gets its own error.

use weft::gguf::{Gguf, GgufError};

use crate::raw::{Raw, fault, string, tiny};

fn array(kind: u32, count: u64, elements: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &count.to_le_bytes(), elements].concat()
}

#[test]
fn other_files_are_told_apart() {
    let error = fault(b"version https://git-lfs.example/v1".to_vec());
    assert_eq!(error.to_string(), "t.gguf: not a GGUF file: it begins with \"vers\"");
    assert!(matches!(fault(Vec::new()), GgufError::Truncated { offset: 0, wanted: 4, size: 0, .. }));
    for version in [0u32, 1, 4, 0x0100_0003, u32::MAX] {
        let mut bytes = tiny();
        bytes[4..8].copy_from_slice(&version.to_le_bytes());
        assert!(matches!(fault(bytes), GgufError::Version { version: v, .. } if v == version), "{version}");
    }
    let mut bytes = tiny();
    bytes[4..8].copy_from_slice(&3u32.to_be_bytes());
    assert!(matches!(fault(bytes), GgufError::BigEndian { .. }));
    let missing = Gguf::open("no-such-file.gguf").unwrap_err();
    assert!(
        matches!(missing, GgufError::Io { .. }) && missing.to_string().starts_with("no-such-file.gguf: ")
    );
    assert!(matches!(Gguf::open("."), Err(GgufError::Io { .. })));
}

#[test]
fn absurd_counts_are_refused_before_anything_is_allocated() {
    for count in [1u64 << 20, 1 << 40, i64::MAX as u64, u64::MAX] {
        for at in [8, 16] {
            let mut bytes = tiny();
            bytes[at..at + 8].copy_from_slice(&count.to_le_bytes());
            assert!(
                matches!(fault(bytes), GgufError::Count { count: c, .. } if c == count),
                "{count} at {at}"
            );
        }
        for kind in [0, 5, 8, 12] {
            let raw = Raw::default().key("k", 9, &array(kind, count, &[0; 64]));
            assert!(matches!(raw.fault(0), GgufError::Count { .. }), "{count} of kind {kind}");
        }
    }
}

#[test]
fn long_strings_are_refused() {
    let key = "k".repeat(70_000);
    let raw = Raw::default().key(&key, 0, &[1]);
    assert!(matches!(raw.fault(0), GgufError::TooLong { length: 70_000, limit: 65_535, .. }));
    let raw = Raw::default().tensor(&"t".repeat(65), &[1], 0, 0);
    assert!(matches!(raw.fault(64), GgufError::TooLong { length: 65, limit: 64, .. }));
    for length in [1 << 20, u64::MAX] {
        let raw = Raw::default().key("k", 8, &[&length.to_le_bytes()[..], &[0; 32]].concat());
        assert!(matches!(raw.fault(0), GgufError::Truncated { wanted, .. } if wanted == length));
        let strings = array(8, 2, &[&string(b"ab")[..], &length.to_le_bytes(), &[0; 32]].concat());
        let raw = Raw::default().key("k", 9, &strings);
        assert!(matches!(raw.fault(0), GgufError::Truncated { wanted, .. } if wanted == length));
    }
}

#[test]
fn names_must_be_utf8() {
    let mut bytes = Raw::default().key("key", 0, &[1]).bytes(0);
    bytes[32] = 0xff;
    assert!(matches!(fault(bytes), GgufError::Utf8 { offset: 32, .. }));
    let mut bytes = Raw::default().tensor("name", &[1], 0, 0).bytes(32);
    bytes[32] = 0xff;
    assert!(matches!(fault(bytes), GgufError::Utf8 { offset: 32, .. }));
}

#[test]
fn keys_and_tensors_occur_once() {
    let raw = Raw::default().key("twice", 0, &[1]).key("twice", 0, &[1]);
    assert!(matches!(raw.fault(0), GgufError::DuplicateKey { key, .. } if key == "twice"));
    let raw = Raw::default().tensor("twice", &[1], 0, 0).tensor("twice", &[1], 0, 32);
    assert!(matches!(raw.fault(64), GgufError::DuplicateTensor { tensor, .. } if tensor == "twice"));
}

#[test]
fn value_types_are_known_and_flat() {
    for id in [13, 255, u32::MAX] {
        assert!(matches!(Raw::default().key("k", id, &[0; 8]).fault(0), GgufError::ValueType { .. }));
        let raw = Raw::default().key("k", 9, &array(id, 0, &[]));
        assert!(matches!(raw.fault(0), GgufError::ValueType { .. }));
    }
    let raw = Raw::default().key("k", 9, &array(9, 1, &array(0, 0, &[])));
    assert!(matches!(raw.fault(0), GgufError::NestedArray { .. }));
}

#[test]
fn alignments_are_powers_of_two() {
    for alignment in [0u32, 24, 33, u32::MAX] {
        let raw = Raw::default().key("general.alignment", 4, &alignment.to_le_bytes());
        assert!(matches!(raw.fault(0), GgufError::Alignment { alignment: a, .. } if a == alignment));
    }
    let raw = Raw::default().key("general.alignment", 8, &string(b"32"));
    assert!(matches!(raw.fault(0), GgufError::WrongValue { .. }));
    let raw = Raw::default().key("general.alignment", 4, &(1u32 << 31).to_le_bytes()).tensor("a", &[1], 0, 0);
    assert!(matches!(raw.fault(64), GgufError::PastEnd { .. }));
}

#[test]
fn shapes_are_checked() {
    let raw = |extents: &[u64], kind| Raw::default().tensor("a", extents, kind, 0);
    assert!(matches!(raw(&[1; 5], 0).fault(64), GgufError::Dims { dims: 5, .. }));
    assert!(matches!(raw(&[4, 0], 0).fault(64), GgufError::Extent { dim: 1, extent: 0, .. }));
    assert!(matches!(raw(&[u64::MAX], 0).fault(64), GgufError::Extent { dim: 0, extent: -1, .. }));
    assert!(matches!(raw(&[33], 8).fault(64), GgufError::Ragged { row: 33, .. }));
    assert!(matches!(raw(&[128], 12).fault(64), GgufError::Ragged { row: 128, .. }));
    for extents in [&[1 << 62, 1 << 62][..], &[1 << 32, 1 << 32, 1 << 32, 1 << 32], &[i64::MAX as u64, 3]] {
        assert!(matches!(raw(extents, 24).fault(64), GgufError::TooLarge { .. }));
    }
    // The values fit a u64, the bytes do not.
    assert!(matches!(raw(&[1 << 62], 28).fault(64), GgufError::TooLarge { .. }));
    assert!(Gguf::from_bytes("t", raw(&[], 0).bytes(4)).unwrap().tensor("a").unwrap().values() == 1);
}

#[test]
fn element_types_are_known() {
    // 4, 5, 31 and 36 were types once.
    for id in [4, 5, 31, 36, 43, u32::MAX] {
        let error = Raw::default().tensor("a", &[32], id, 0).fault(64);
        assert_eq!(error.to_string(), format!("t.gguf: the tensor \"a\" has the unknown type {id}"));
    }
}

#[test]
fn tensors_lie_inside_the_file_and_apart() {
    let raw = |offset| Raw::default().tensor("a", &[16], 0, offset);
    assert!(Gguf::from_bytes("t", raw(0).bytes(64)).is_ok());
    assert!(matches!(raw(0).fault(63), GgufError::PastEnd { end: 128, size: 127, .. }));
    assert!(matches!(raw(32).fault(64), GgufError::PastEnd { .. }));
    assert!(matches!(raw(4).fault(128), GgufError::Misaligned { offset: 4, alignment: 32, .. }));
    assert!(matches!(raw(u64::MAX - 31).fault(64), GgufError::PastEnd { end: u64::MAX, .. }));
    let raw = Raw::default().tensor("b", &[8], 0, 32).tensor("a", &[16], 0, 0);
    let error = raw.fault(64).to_string();
    assert_eq!(error, "t.gguf: the tensors \"a\" and \"b\" overlap");
}

#[test]
fn hostile_names_stay_on_one_line() {
    let error = Raw::default().tensor("a\nERROR: b\u{1b}[31m", &[32], 99, 0).fault(64).to_string();
    assert_eq!(error, r#"t.gguf: the tensor "a\nERROR: b\u{1b}[31m" has the unknown type 99"#);
}
