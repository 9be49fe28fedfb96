//! A matrix per (expert slot, token), chosen by index.
//!
//! `out[o, s, t] = Σ_i weight[i, o, ids[s, t]]·x[i, s mod .., t]`

use super::{Call, Kernel, KernelError};
use crate::contract::{
    ANY_WEIGHT, Contract,
    Extent::{Any, Is, Named, Repeats},
    F32, FLOATS, I32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        edges: &[1, 8],
        ..Contract::new(
            "mul_mat_id",
            &[
                Port::read("weight", ANY_WEIGHT).shape([Named("I"), Named("O"), Any, Is(1)]),
                Port::read("x", FLOATS).shape([Named("I"), Repeats("K"), Named("T"), Is(1)]),
                Port::read("ids", I32).shape([Named("K"), Named("T"), Is(1), Is(1)]),
                Port::write("out", F32).shape([Named("O"), Named("K"), Named("T"), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (weight, x, ids, out) = (call.port("weight")?, call.port("x")?, call.port("ids")?, call.port("out")?);
    out.rows(|[slot, token, _]| {
        let expert = ids.index_below([slot, token, 0, 0], weight.shape()[2])?;
        let column = x.row([slot % x.shape()[1], token, 0]);
        for o in 0..out.shape()[0] {
            let sum: f64 = weight.row([o, expert, 0]).iter().zip(&column).map(|(w, x)| w * x).sum();
            out.put([o, slot, token, 0], sum);
        }
        Ok(())
    })
}
