//! `qwen35moe`: Qwen3.5 and 3.6 with a mixture of experts, such as 35B-A3B. The layers of `qwen35` otherwise.

use super::hybrid::Hybrid;
use super::mixture::Mixture;
use super::network::Network;
use super::{Architecture, Hyper, ModelError, qwen35};
use crate::gguf::Gguf;

struct Qwen35Moe {
    hybrid: Hybrid,
    mixture: Mixture,
}

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    let hybrid = qwen35::hybrid(gguf, hyper)?;
    Ok(Box::new(Qwen35Moe { hybrid, mixture: Mixture::with_shared_expert(gguf, hyper)? }))
}

impl Architecture for Qwen35Moe {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        self.hybrid.build(net, |net, x, layer| self.mixture.build(net, x, layer))
    }

    fn draft(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        self.hybrid.draft(net, |net, x, layer| self.mixture.build(net, x, layer))
    }

    fn is_recurrent(&self) -> bool {
        true
    }
}
