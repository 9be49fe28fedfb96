//! `qwen4exp`: Qwen3.8-Flash-Next. The layers of `qwen35moe` on several residual streams, with embeddings of n-grams, and
//! attention that selects blocks of its cache.

use super::hybrid::{Hybrid, Layout};
use super::mixture::Mixture;
use super::network::Network;
use super::ngram::Ngrams;
use super::selection::Selection;
use super::streams::Streams;
use super::{Architecture, HostInputs, Hyper, ModelError, Rows, Run, names, qwen35};
use crate::gguf::Gguf;
use weft_core::graph::UnaryKind;

struct Qwen4Exp {
    hybrid: Hybrid,
    mixture: Mixture,
    streams: Streams,
    ngrams: Ngrams,
    /// `None` where all layers attend to all cells.
    selection: Option<Selection>,
}

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    let layout = Layout { opening: UnaryKind::Sigmoid, ..qwen35::layout(gguf, hyper)? };
    let hybrid = Hybrid::read(gguf, hyper, layout)?;
    let ngrams = Ngrams::read(gguf, hyper)?;
    if ngrams.layer() >= hyper.layers || !hybrid.is_recurrent(ngrams.layer()) {
        return Err(ModelError::unfit(gguf, "ple.layers", "it must name a recurrent layer"));
    }
    let selection = Selection::read(gguf, hyper, |layer| hybrid.is_recurrent(layer))?;
    let (mixture, streams) = (Mixture::with_shared_expert(gguf, hyper)?, Streams::read(gguf, hyper)?);
    Ok(Box::new(Qwen4Exp { hybrid, mixture, streams, ngrams, selection }))
}

impl Architecture for Qwen4Exp {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        let Qwen4Exp { hybrid, mixture, streams, ngrams, selection } = self;
        let embedded = net.embed()?;
        let mut x = streams.begin(net, embedded)?;
        for layer in 0..net.hyper.layers {
            let blk = |name: &str| format!("blk.{layer}.{name}");
            if layer == ngrams.layer() {
                x = ngrams.add(net, streams, x)?;
            }
            let mut mixed = streams.enter(net, x, &blk("hc_attn"))?;
            let mut y = if hybrid.is_recurrent(layer) {
                hybrid.delta_net(net, mixed.x, layer)?
            } else {
                let rope = hybrid.rope(net);
                hybrid.attention(net, mixed.x, layer, |net, heads| {
                    match selection.as_ref().filter(|s| s.is_used(net, layer)) {
                        Some(selection) => selection.attend(net, heads, mixed.x, rope, layer),
                        None => net.attend(heads, layer),
                    }
                })?
            };
            if layer + 1 == net.hyper.layers && !net.batch.hidden {
                if net.batch.rows == Rows::None {
                    return Ok(());
                }
                (x, y, mixed.shares) = (net.wanted(x)?, net.wanted(y)?, net.wanted(mixed.shares)?);
            }
            x = streams.combine(net, x, y, mixed.shares)?;
            let mixed = streams.enter(net, x, &blk("hc_ffn"))?;
            let y = mixture.build(net, mixed.x, layer)?;
            x = streams.combine(net, x, y, mixed.shares)?;
            if net.batch.hidden {
                net.b.output(&names::hidden(layer), x)?;
            }
        }
        if net.batch.rows == Rows::None {
            return Ok(());
        }
        let x = if net.batch.hidden { net.wanted(x)? } else { x };
        let row = streams.leave(net, x)?;
        net.logits(row, None)
    }

    fn is_recurrent(&self) -> bool {
        true
    }

    fn chooses_all(&self, tokens: u64) -> bool {
        self.selection.as_ref().is_some_and(|selection| selection.is_whole(tokens))
    }

    fn write_inputs(&self, gguf: &Gguf, run: &Run<'_>, into: &mut HostInputs) -> Result<(), ModelError> {
        self.ngrams.write(gguf, run, into)?;
        if let Some(selection) = &self.selection {
            selection.write(run, into);
        }
        Ok(())
    }
}
