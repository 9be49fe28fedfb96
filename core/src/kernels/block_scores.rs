//! How well the blocks of a cache match each token, by one key a block: what chooses the blocks that are attended to.
//!
//! `out[b, t] = Σ_h max(0, q[:, h, t]·keys[:, b, slot])` for the blocks of `block` cells that token t sees whole: of a token
//! at position p those with `(b + 1)·block ≤ p + 1`. All others get minus infinity, whatever their keys hold. Rows that no
//! segment holds stay unwritten.

use super::mul_mat::dot;
use super::{Call, Kernel, KernelError, segments};
use crate::contract::{
    Attribute, Contract,
    Extent::{Any, Is, Named},
    F32, FLOATS, I32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Integer("block", 1, 1 << 16)],
        edges: &[1, 2],
        ..Contract::new(
            "block_scores",
            &[
                Port::read("q", F32).shape([Named("D"), Named("H"), Named("T"), Is(1)]),
                Port::read("keys", FLOATS).shape([Named("D"), Named("B"), Any, Is(1)]),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]),
                Port::write("out", F32).shape([Named("B"), Named("T"), Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (q, keys, out) = (call.port("q")?, call.port("keys")?, call.port("out")?);
    let block = u64::from(call.constants.u32("block")?);
    let [_, heads, tokens, _] = q.shape();
    for segment in segments(&call.port("segments")?, tokens, keys.shape()[2])? {
        for i in 0..u64::from(segment.count) {
            let (row, slot) = (u64::from(segment.row) + i, u64::from(segment.slot));
            let whole = (u64::from(segment.position) + i + 1) / block;
            let queries: Vec<Vec<f64>> = (0..heads).map(|h| q.row([h, row, 0])).collect();
            for b in 0..out.shape()[0] {
                let score = if b < whole {
                    let key = keys.row([b, slot, 0]);
                    queries.iter().map(|query| dot(query, &key)).filter(|s| *s > 0.0 || s.is_nan()).sum()
                } else {
                    f64::NEG_INFINITY
                };
                out.put([b, row, 0, 0], score);
            }
        }
    }
    Ok(())
}
