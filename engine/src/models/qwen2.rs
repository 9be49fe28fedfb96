//! `qwen2`: Qwen2 and Qwen2.5. Queries, keys and values have biases, and the halves of a head rotate together.

use super::network::Network;
use super::{Architecture, Hyper, ModelError, llama};
use crate::gguf::Gguf;
use weft_core::graph::RopeKind;

struct Qwen2;

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    llama::dense(gguf, hyper)?;
    Ok(Box::new(Qwen2))
}

impl Architecture for Qwen2 {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        llama::build(net, RopeKind::Neox, None)
    }
}
