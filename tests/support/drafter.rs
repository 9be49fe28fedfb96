//! Files of a draft block alone.

use weft::gguf::{Gguf, GgufWriter};

/// The bytes of a file with nothing but the draft block of another, its embedding and its head.
///
/// # Panics
/// The file has no draft block.
pub fn block_of(gguf: &Gguf) -> Vec<u8> {
    let architecture = gguf.get_str("general.architecture").expect("an architecture");
    let block = gguf.get_u32(&format!("{architecture}.block_count")).expect("a number of blocks") - 1;
    let own = format!("blk.{block}.");
    let kept = |name: &str| name.starts_with(&own) || !name.starts_with("blk.");
    let mut writer = GgufWriter::new();
    gguf.metadata().iter().for_each(|(key, value)| writer.set(key, value.clone()));
    let tensors: Vec<_> = gguf.tensors().iter().filter(|tensor| kept(&tensor.name)).collect();
    assert!(tensors.len() < gguf.tensors().len() / 2);
    for tensor in &tensors {
        writer.tensor(&tensor.name, tensor.dtype, tensor.extents()).expect("a tensor");
    }
    let mut body = writer.begin("block.gguf", Vec::new()).expect("a header");
    for tensor in tensors {
        body.append(gguf.tensor_bytes(tensor).expect("bytes").as_ref()).expect("written");
    }
    body.finish().expect("a file")
}
