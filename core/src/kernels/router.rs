//! The experts of each token, and how much each counts: the k largest of a softmax, made to sum to one.
//!
//! `p = softmax(scale·logits)`; `ids` are those of the k largest, in descending order, ties to the lower index;
//! `weights[s] = p[ids[s]] / max(Σ p[ids], least)`. Order is that of the logits: what only rounds to the same share is no
//! tie.

use super::{Call, Kernel, KernelError, softmax, top_k};
use crate::contract::{
    Allowed, Attribute, Contract,
    Extent::{AtLeast, Is, Named},
    F32, I32, Port, Symbol,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[Symbol { name: "K", allowed: Allowed::Between(1, u32::MAX as u64) }],
        attributes: &[
            Attribute::Integer("k", 1, u32::MAX),
            Attribute::Float("scale"),
            Attribute::Float("least"),
        ],
        ..Contract::new(
            "router",
            &[
                Port::read("logits", F32).shape([AtLeast("K"), Named("T"), Is(1), Is(1)]),
                Port::write("ids", I32).shape([Named("K"), Named("T"), Is(1), Is(1)]),
                Port::write("weights", F32).shape([Named("K"), Named("T"), Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (logits, ids, weights) = (call.port("logits")?, call.port("ids")?, call.port("weights")?);
    let (scale, least) = (f64::from(call.constants.f32("scale")?), f64::from(call.constants.f32("least")?));
    logits.rows(|outer| {
        let mut shares: Vec<f64> = logits.row(outer).into_iter().map(|v| v * scale).collect();
        let mut chosen = top_k::descending(&shares);
        chosen.truncate(ids.shape()[0] as usize);
        softmax::softmax(&mut shares, None);
        let sum = chosen.iter().map(|expert| shares[*expert]).sum::<f64>().max(least);
        ids.put_row(outer, &chosen.iter().map(|expert| *expert as f64).collect::<Vec<_>>());
        weights.put_row(outer, &chosen.iter().map(|expert| shares[*expert] / sum).collect::<Vec<_>>());
        Ok(())
    })
}
