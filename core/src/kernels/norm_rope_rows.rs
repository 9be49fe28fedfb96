//! A norm per head, rotary embedding, and the heads of each token written as one row of a cache.
//!
//! `out[:, rows[t]] = [rope(x[:, h, t] / sqrt(mean(x²) + eps)·weight) of all heads h]`; an index of -1 drops its row, later
//! rows win. See `rope` for the angles.

use super::{Call, Kernel, KernelError, norm_rope};
use crate::contract::{
    Absent, CACHE, Contract,
    Extent::{Any, AtLeast, Is, Named, Product},
    F32, I32, INDICES, Port, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: norm_rope::KERNEL.contract.attributes,
        edges: &[1, 2],
        // A value near the middle of two that a half-precision cache can hold may become either.
        tolerance: Tolerance { nmse_row: 1e-6, max_abs: 1e-3 },
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        ..Contract::new(
            "norm_rope_rows",
            &[
                Port::read("x", F32).shape([Named("D"), Named("H"), Named("T"), Is(1)]),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::read("positions", I32).shape([AtLeast("T"), Is(1), Is(1), Is(1)]),
                Port::read("divisors", F32).shape([Any, Is(1), Is(1), Is(1)]).optional(),
                Port::read("rows", INDICES).shape([Named("T"), Is(1), Is(1), Is(1)]),
                Port::update("out", CACHE).shape([Product("D", "H"), Any, Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, rows, out) = (call.port("x")?, call.port("rows")?, call.port("out")?);
    let head = norm_rope::heads(call)?;
    let [_, heads, tokens, _] = x.shape();
    for t in 0..tokens {
        if rows.index([t, 0, 0, 0]) != -1 {
            let at = rows.index_below([t, 0, 0, 0], out.shape()[1])?;
            let row: Vec<f64> = (0..heads).flat_map(|h| head([h, t, 0])).collect();
            out.put_row([at, 0, 0], &row);
        }
    }
    Ok(())
}
