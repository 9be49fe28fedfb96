//! Models in several files.

use std::path::{Path, PathBuf};

use weft::gguf::{Gguf, GgufError, GgufWriter};
use weft_core::graph::DType;

use crate::reads::own_folder;

/// Writes shard `number` (from 0) of `count`, with tensors `t<number>.a` and `t<number>.b`.
fn write_shard(folder: &Path, number: u16, count: u16, edit: impl Fn(&mut GgufWriter)) -> PathBuf {
    write_named_shard(folder, number, count, &format!("t{number}"), edit)
}

/// The same with tensors `<stem>.a` and `<stem>.b`.
fn write_named_shard(
    folder: &Path,
    number: u16,
    count: u16,
    stem: &str,
    edit: impl Fn(&mut GgufWriter),
) -> PathBuf {
    let mut writer = GgufWriter::new();
    if number == 0 {
        writer.set("general.architecture", "llama");
    }
    writer.set("split.no", number);
    writer.set("split.count", count);
    writer.set("split.tensors.count", i32::from(2 * count));
    edit(&mut writer);
    for name in ["a", "b"] {
        writer.tensor(&format!("{stem}.{name}"), DType::F32, &[3]).unwrap();
    }
    let path = folder.join(format!("model-{:05}-of-{count:05}.gguf", number + 1));
    let mut body = writer.begin("shard", std::fs::File::create(&path).unwrap()).unwrap();
    body.append(&[number as u8; 12]).unwrap();
    body.append(&[number as u8 + 10; 12]).unwrap();
    body.finish().unwrap();
    path
}

fn write_three(folder: &Path) -> Vec<PathBuf> {
    (0..3).map(|number| write_shard(folder, number, 3, |_| ())).collect()
}

#[test]
fn any_shard_opens_the_whole_model() {
    let folder = own_folder();
    for path in write_three(&folder) {
        let model = Gguf::open(path).unwrap();
        assert_eq!(model.get_str("general.architecture").unwrap(), "llama");
        assert_eq!(model.files().len(), 3);
        assert_eq!(model.tensors().len(), 6);
        for number in 0..3u8 {
            let entry = model.tensor(&format!("t{number}.b")).unwrap();
            assert_eq!(entry.shard, usize::from(number));
            assert_eq!(model.tensor_bytes(entry).unwrap().as_ref(), [number + 10; 12]);
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_missing_shard_is_named() {
    let folder = own_folder();
    let paths = write_three(&folder);
    std::fs::remove_file(&paths[1]).unwrap();
    let error = Gguf::open(&paths[0]).unwrap_err();
    assert!(
        matches!(&error, GgufError::Io { file, .. } if *file == paths[1].display().to_string()),
        "{error}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_renamed_shard_cannot_find_the_others() {
    let folder = own_folder();
    let path = write_shard(&folder, 0, 3, |_| ());
    for name in
        ["model.gguf", "model-00001-of-00004.gguf", "-0001-of-00003.gguf", "x-0a001-of-00003.gguf", "é.gguf"]
    {
        let renamed = folder.join(name);
        std::fs::copy(&path, &renamed).unwrap();
        let error = Gguf::open(&renamed).unwrap_err();
        assert!(matches!(error, GgufError::SplitName { count: 3, .. }), "{name}: {error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn shards_must_agree_on_their_number_order_and_tensors() {
    let folder = own_folder();
    type Edit = fn(&mut GgufWriter);
    let cases: [(&str, Edit); 3] = [
        ("split.no", |writer| writer.set("split.no", 2u16)),
        ("split.count", |writer| writer.set("split.count", 4u16)),
        ("split.tensors.count", |_| ()),
    ];
    for (key, edit) in cases {
        let paths = write_three(&folder);
        if key == "split.tensors.count" {
            write_shard(&folder, 0, 3, |writer| writer.set("split.tensors.count", 7i32));
        } else {
            write_shard(&folder, 1, 3, edit);
        }
        let error = Gguf::open(&paths[0]).unwrap_err();
        assert!(matches!(error, GgufError::Split { key: k, .. } if k == key), "{key}: {error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_tensor_in_two_shards_is_refused() {
    let folder = own_folder();
    let paths = write_three(&folder);
    write_named_shard(&folder, 2, 3, "t0", |_| ());
    let error = Gguf::open(&paths[0]).unwrap_err();
    assert!(matches!(error, GgufError::DuplicateTensor { tensor, .. } if tensor == "t0.a"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn one_shard_in_memory_is_not_a_model() {
    let folder = own_folder();
    let bytes = std::fs::read(write_shard(&folder, 0, 3, |_| ())).unwrap();
    let error = Gguf::from_bytes("t", bytes).unwrap_err();
    assert_eq!(error.to_string(), "t: given 1 of 3 split files");
    std::fs::remove_dir_all(folder).unwrap();
}
