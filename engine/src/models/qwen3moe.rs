//! `qwen3moe`: Qwen3 with a mixture of experts, such as 30B-A3B. The layers of `qwen3` otherwise.

use super::mixture::Mixture;
use super::network::Network;
use super::{Architecture, Hyper, ModelError, llama, qwen3};
use crate::gguf::Gguf;

struct Qwen3Moe(Mixture);

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    llama::rotates_whole(gguf, hyper)?;
    Ok(Box::new(Qwen3Moe(Mixture::read(gguf, hyper)?)))
}

impl Architecture for Qwen3Moe {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        qwen3::build(net, |net, x, layer| self.0.build(net, x, layer))
    }
}
