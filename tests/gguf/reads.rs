//! What is written comes back.

use weft::gguf::{Array, Gguf, GgufError, GgufWriter, Strings, ValueKind};
use weft_core::graph::DType;

use crate::raw::{Raw, string, tiny, walk};

#[test]
fn a_written_file_reads_back() {
    let model = Gguf::from_bytes("tiny", tiny()).unwrap();
    assert_eq!(model.get_str("general.architecture").unwrap(), "qwen35");
    assert_eq!(model.get::<u64>("a.u64").unwrap(), u64::MAX);
    assert_eq!(model.get_f32("a.f32").unwrap(), 0.25);
    assert!(model.get_bool("a.bool").unwrap());
    assert_eq!(model.get::<Vec<i32>>("a.numbers").unwrap(), [1, -2, 3]);
    assert_eq!(model.get::<Vec<bool>>("a.claims").unwrap(), [true, false]);
    let strings: Vec<&[u8]> = model.get::<Strings>("a.strings").unwrap().collect();
    assert_eq!(strings, [&b"one"[..], b"", b"three"]);
    assert_eq!(model.get::<Strings>("a.strings").unwrap().len(), 3);
    assert_eq!(model.find::<u32>("absent").unwrap(), None);
    assert_eq!(model.metadata().iter().next().unwrap().0, "general.architecture");

    let names: Vec<&str> = model.tensors().iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["first.weight", "second"]);
    let first = model.tensor("first.weight").unwrap();
    assert_eq!((first.dtype, first.shape, first.dims), (DType::Q8_0, [32, 3, 1, 1], 2));
    assert_eq!((first.bytes, first.row_bytes(), first.values()), (102, 34, 96));
    assert_eq!(first.extents(), [32, 3]);
    assert_eq!(model.tensor_bytes(first).unwrap().as_ref(), (0..102).collect::<Vec<u8>>());
    let second = model.tensor("second").unwrap();
    assert_eq!(second.offset % 32, 0);
    assert_eq!(model.tensor_bytes(second).unwrap().as_ref(), [1; 20]);
    walk(&model);
}

#[test]
fn mapped_and_embedded_files_read_alike() {
    let folder = own_folder();
    let path = folder.join("one.gguf");
    std::fs::write(&path, tiny()).unwrap();
    let mapped = Gguf::open(&path).unwrap();
    let bytes: &'static [u8] = tiny().leak();
    let embedded = Gguf::from_bytes("embedded", bytes).unwrap();
    assert_eq!(walk(&mapped), walk(&embedded));
    assert_eq!(mapped.tensors(), embedded.tensors());
    // The bytes outlive the model and the file's name.
    let kept = mapped.tensor_bytes(mapped.tensor("second").unwrap()).unwrap();
    drop(mapped);
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(kept.as_ref(), [1; 20]);
}

#[test]
fn version_two_and_other_alignments_are_read() {
    let mut bytes = Raw::default()
        .key("general.alignment", 4, &64u32.to_le_bytes())
        .tensor("a", &[4], 0, 0)
        .tensor("b", &[4], 0, 64)
        .bytes(128);
    bytes[4] = 2;
    let model = Gguf::from_bytes("t", bytes).unwrap();
    assert_eq!(model.tensor("a").unwrap().offset % 64, 0);
    assert_eq!(model.tensor("b").unwrap().offset, model.tensor("a").unwrap().offset + 64);
}

#[test]
fn integers_convert_where_they_fit() {
    let bytes = Raw::default()
        .key("small", 0, &[7])
        .key("negative", 5, &(-1i32).to_le_bytes())
        .key("large", 10, &(1u64 << 40).to_le_bytes())
        .bytes(0);
    let model = Gguf::from_bytes("t", bytes).unwrap();
    assert_eq!(model.get_u32("small").unwrap(), 7);
    assert_eq!(model.get::<u64>("large").unwrap(), 1 << 40);
    for key in ["negative", "large"] {
        assert!(matches!(model.get_u32(key), Err(GgufError::WrongValue { want: "a u32", .. })), "{key}");
    }
}

#[test]
fn wrong_types_and_missing_keys_are_named() {
    let model = Gguf::from_bytes("tiny", tiny()).unwrap();
    assert_eq!(
        model.get_u32("general.architecture").unwrap_err().to_string(),
        "tiny: the key \"general.architecture\" should be a u32, but is the string \"qwen35\""
    );
    assert_eq!(model.get_str("qwen35.x").unwrap_err().to_string(), "tiny: the key \"qwen35.x\" is missing");
    assert!(model.get_bool("a.f32").is_err());
    assert!(model.get_f32("a.bool").is_err());
    assert!(model.get::<Vec<u32>>("a.strings").is_err());
    assert!(model.get::<Vec<u32>>("a.numbers").is_err(), "-2 is no u32");
    assert!(model.get::<Strings>("a.numbers").is_err());
    assert_eq!(model.get_array("a.numbers").unwrap().kind(), ValueKind::I32);
    assert!(matches!(model.tensor("third"), Err(GgufError::MissingTensor { .. })));
}

#[test]
fn one_number_stands_for_all_layers() {
    let mut writer = GgufWriter::new();
    writer.set("scalar", 5u32);
    writer.set("array", &[1u32, 2, 3][..]);
    let model = Gguf::from_bytes("t", writer.begin("t", Vec::new()).unwrap().finish().unwrap()).unwrap();
    let find = |key, count| model.metadata().find_per_layer::<u32>(key, count);
    assert_eq!(find("scalar", 3).unwrap(), Some(vec![5, 5, 5]));
    assert_eq!(find("array", 2).unwrap(), Some(vec![1, 2]));
    assert_eq!(find("absent", 2).unwrap(), None);
    assert!(matches!(find("array", 4), Err(GgufError::ShortArray { want: 4, got: 3, .. })));
}

#[test]
fn token_bytes_need_not_be_utf8() {
    let tokens =
        [&8u32.to_le_bytes()[..], &2u64.to_le_bytes(), &string(b"\xff\xc3"), &string(b"ok")].concat();
    let bytes = Raw::default().key("tokens", 9, &tokens).key("text", 8, &string(b"\xff")).bytes(0);
    let model = Gguf::from_bytes("t", bytes).unwrap();
    let tokens: Vec<&[u8]> = model.get::<Strings>("tokens").unwrap().collect();
    assert_eq!(tokens, [&b"\xff\xc3"[..], b"ok"]);
    let error = model.get_str("text").unwrap_err().to_string();
    assert_eq!(
        error,
        "t: the key \"text\" should be a UTF-8 string, but is a string of 1 bytes that are not UTF-8"
    );
}

#[test]
fn a_head_without_data_serves_planning() {
    let head = Raw::default().tensor("a", &[32, 1 << 40], 8, 0).bytes(0);
    let model = Gguf::from_head("t", head.clone()).unwrap();
    let entry = model.tensor("a").unwrap();
    assert_eq!(entry.bytes, 34 << 40);
    assert!(matches!(model.tensor_bytes(entry), Err(GgufError::PastEnd { .. })));
    assert!(matches!(Gguf::from_bytes("t", head), Err(GgufError::PastEnd { .. })));
}

#[test]
fn the_writer_holds_callers_to_their_table() {
    let mut writer = GgufWriter::new();
    assert!(matches!(writer.tensor("a", DType::Q4_K, &[255]), Err(GgufError::Ragged { .. })));
    assert!(matches!(writer.tensor("a", DType::F32, &[1; 5]), Err(GgufError::Dims { dims: 5, .. })));
    assert!(matches!(writer.tensor("a", DType::F32, &[u64::MAX, 2]), Err(GgufError::TooLarge { .. })));
    writer.tensor("a", DType::F32, &[2]).unwrap();
    let mut body = writer.clone().begin("t", Vec::new()).unwrap();
    assert!(matches!(body.append(&[0; 9]), Err(GgufError::Excess { .. })));
    body.append(&[0; 7]).unwrap();
    assert!(matches!(body.finish(), Err(GgufError::Unwritten { want: 8, got: 7, .. })));
    let mut body = writer.begin("t", Vec::new()).unwrap();
    body.append(&[0; 8]).unwrap();
    assert!(matches!(body.append(&[0]), Err(GgufError::Excess { .. })));
}

#[test]
fn a_key_set_twice_keeps_the_last_value() {
    let mut writer = GgufWriter::new();
    writer.set("k", 1u32);
    writer.set("k", ["a"].iter().collect::<Array>());
    let model = Gguf::from_bytes("t", writer.begin("t", Vec::new()).unwrap().finish().unwrap()).unwrap();
    assert_eq!(model.metadata().iter().len(), 1);
    assert_eq!(model.get_array("k").unwrap().len(), 1);
}

/// A folder of its own for the calling test.
pub fn own_folder() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("weft-gguf-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
