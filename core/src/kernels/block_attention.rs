//! Attention over chosen blocks of the cache: each token has a list of its own.
//!
//! As `flash_attention` with segments, but a token at position p sees the cells of those blocks in `blocks[:, t]` that end at
//! or before p, and the cells behind its last whole block: `(p + 1) div block · block ..= p`. Entries that name no such
//! block are passed over; an entry that stands twice counts twice. Rows that no segment holds stay unwritten.

use super::mul_mat::dot;
use super::{Call, Kernel, KernelError, segments, softmax::softmax};
use crate::contract::{
    Allowed, Attribute, CACHE, Contract,
    Extent::{Any, Is, Named},
    F32, I32, Port, Symbol,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[Symbol { name: "G", allowed: Allowed::DivisorOf("H") }],
        attributes: &[Attribute::Float("scale"), Attribute::Integer("block", 1, 1 << 16)],
        edges: &[1, 2],
        ..Contract::new(
            "block_attention",
            &[
                Port::read("q", F32).shape([Named("D"), Named("T"), Named("H"), Is(1)]),
                Port::read("k", CACHE).shape([Named("D"), Named("C"), Named("G"), Named("P")]),
                Port::read("v", CACHE).shape([Named("E"), Named("C"), Named("G"), Named("P")]),
                Port::read("blocks", I32).shape([Any, Named("T"), Is(1), Is(1)]),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]),
                Port::write("out", F32).shape([Named("E"), Named("H"), Named("T"), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (q, k, v, out) = (call.port("q")?, call.port("k")?, call.port("v")?, call.port("out")?);
    let blocks = call.port("blocks")?;
    let (scale, block) = (f64::from(call.constants.f32("scale")?), u64::from(call.constants.u32("block")?));
    let [_, tokens, heads, _] = q.shape();
    let cells = k.shape()[1];
    for segment in segments(&call.port("segments")?, tokens, k.shape()[3])? {
        let slot = u64::from(segment.slot);
        for i in 0..u64::from(segment.count) {
            let row = u64::from(segment.row) + i;
            let visible = (u64::from(segment.position) + i + 1).min(cells);
            let tail = visible / block * block;
            let listed = (0..blocks.shape()[0])
                .filter_map(|n| u64::try_from(blocks.index([n, row, 0, 0])).ok())
                .filter(|b| *b < visible / block)
                .flat_map(|b| b * block..(b + 1) * block);
            let seen: Vec<u64> = listed.chain(tail..visible).collect();
            for h in 0..heads {
                let group = h / (heads / k.shape()[2]);
                let query = q.row([row, h, 0]);
                let score = |c: &u64| dot(&k.row([*c, group, slot]), &query) * scale;
                let mut weights: Vec<f64> = seen.iter().map(score).collect();
                softmax(&mut weights, None);
                let mut sum = vec![0.0; out.shape()[0] as usize];
                for (c, weight) in seen.iter().zip(&weights).filter(|(_, w)| **w != 0.0) {
                    let value = v.row([*c, group, slot]);
                    sum.iter_mut().zip(value).for_each(|(s, v)| *s += weight * v);
                }
                out.put_row([h, row, 0], &sum);
            }
        }
    }
    Ok(())
}
