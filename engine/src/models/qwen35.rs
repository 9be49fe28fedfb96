//! `qwen35`: dense Qwen3.5, 3.6 and 3.8. Gated delta nets, with gated attention every few layers.

use super::hybrid::{Hybrid, Layout};
use super::network::Network;
use super::{Architecture, Hyper, ModelError};
use crate::gguf::Gguf;
use weft_core::graph::{HeadMap, RopeKind, UnaryKind};

struct Qwen35(Hybrid);

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    Ok(Box::new(Qwen35(hybrid(gguf, hyper)?)))
}

/// The layers that the dense models and the mixtures of this generation share.
pub(super) fn hybrid(gguf: &Gguf, hyper: &Hyper) -> Result<Hybrid, ModelError> {
    Hybrid::read(gguf, hyper, layout(gguf, hyper)?)
}

/// How these models lay out what they project.
pub(super) fn layout(gguf: &Gguf, hyper: &Hyper) -> Result<Layout, ModelError> {
    let unfit = |why: &str| ModelError::unfit(gguf, "rope.dimension_sections", why);
    let key = format!("{}.rope.dimension_sections", hyper.architecture);
    let sections: Vec<i32> =
        gguf.metadata().find_per_layer(&key, 4)?.ok_or_else(|| unfit("the key is missing"))?;
    let sections: Vec<u32> = sections.iter().filter_map(|s| u32::try_from(*s).ok()).collect();
    let sections: [u32; 4] = sections.try_into().map_err(|_| unfit("four numbers from 0 are needed"))?;
    if sections.iter().map(|section| u64::from(*section)).sum::<u64>() * 2 != hyper.rope_dims {
        return Err(unfit("their sum must be half of rope.dimension_count"));
    }
    Ok(Layout {
        heads: HeadMap::Tiled,
        rope: RopeKind::MultiSection,
        sections,
        opening: UnaryKind::Silu,
        project: Hybrid::separate,
    })
}

impl Architecture for Qwen35 {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        self.0.build(net, |net, x, layer| net.feed_forward(x, layer))
    }

    fn draft(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        self.0.draft(net, |net, x, layer| net.feed_forward(x, layer))
    }

    fn is_recurrent(&self) -> bool {
        true
    }
}
