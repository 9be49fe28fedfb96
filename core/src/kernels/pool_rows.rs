//! Means of cached rows, normed, turned and written as rows of another cache: index keys of whole blocks.
//!
//! `mean = scale·Σ_j cache[:, cells[j, t]]`; `out[:, rows[t]] = rope(mean / sqrt(mean(mean²) + eps)·weight)`. A row of -1 drops
//! its mean, later rows win. See `rope` for the angles.

use super::{Call, Kernel, KernelError, norm_rope, norm_rope_rows};
use crate::contract::{
    Attribute, CACHE, Contract,
    Extent::{Any, AtLeast, Is, Named},
    F32, FLOATS, I32, INDICES, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: ATTRIBUTES,
        edges: &[1, 2],
        tolerance: norm_rope_rows::KERNEL.contract.tolerance,
        absent: norm_rope_rows::KERNEL.contract.absent,
        ..Contract::new(
            "pool_rows",
            &[
                Port::read("cache", FLOATS).shape([Named("D"), Any, Is(1), Is(1)]),
                Port::read("cells", INDICES).shape([Any, Named("T"), Is(1), Is(1)]),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::read("positions", I32).shape([AtLeast("T"), Is(1), Is(1), Is(1)]),
                Port::read("divisors", F32).shape([Any, Is(1), Is(1), Is(1)]).optional(),
                Port::read("rows", INDICES).shape([Named("T"), Is(1), Is(1), Is(1)]),
                Port::update("out", CACHE).shape([Named("D"), Any, Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

/// Those of `norm_rope`, and the factor of the sum.
const ATTRIBUTES: &[Attribute] = &const {
    let turned = norm_rope::KERNEL.contract.attributes;
    let mut all = [Attribute::Float("scale"); 13];
    let mut i = 0;
    while i < turned.len() {
        all[i] = turned[i];
        i += 1;
    }
    all
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (cache, cells) = (call.port("cache")?, call.port("cells")?);
    let (rows, out) = (call.port("rows")?, call.port("out")?);
    let [block, tokens, ..] = cells.shape();
    let scale = f64::from(call.constants.f32("scale")?);
    let turn = norm_rope::turning(call, tokens)?;
    for t in 0..tokens {
        let mut mean = vec![0.0; cache.shape()[0] as usize];
        for j in 0..block {
            let cell = cells.index_below([j, t, 0, 0], cache.shape()[1])?;
            mean.iter_mut().zip(cache.row([cell, 0, 0])).for_each(|(sum, v)| *sum += v);
        }
        mean.iter_mut().for_each(|v| *v *= scale);
        if rows.index([t, 0, 0, 0]) != -1 {
            let at = rows.index_below([t, 0, 0, 0], out.shape()[1])?;
            out.put_row([at, 0, 0], &turn(mean, t));
        }
    }
    Ok(())
}
