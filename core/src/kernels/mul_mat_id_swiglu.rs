//! A pair of matrices per (expert slot, token), chosen by index; the one product is gated by the other.
//!
//! `out[o, s, t] = silu(Σ_i gate[i, o, e]·x[i, s mod .., t])·Σ_i up[i, o, e]·x[i, s mod .., t]`, `e = ids[s, t]`

use super::{Call, Kernel, KernelError, mul_mat, swiglu};
use crate::contract::{
    ANY_WEIGHT, Absent, Allowed, Contract,
    Extent::{Is, Named, Repeats},
    F32, FLOATS, I32, Port, Symbol,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[Symbol { name: "E", allowed: Allowed::Between(1, 1 << 32) }],
        edges: &[1, 8],
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        ..Contract::new(
            "mul_mat_id_swiglu",
            &[
                Port::read("gate", ANY_WEIGHT).shape([Named("I"), Named("O"), Named("E"), Is(1)]),
                Port::read("up", ANY_WEIGHT).shape([Named("I"), Named("O"), Named("E"), Is(1)]),
                Port::read("x", FLOATS).shape([Named("I"), Repeats("K"), Named("T"), Is(1)]),
                Port::read("ids", I32).shape([Named("K"), Named("T"), Is(1), Is(1)]),
                Port::write("out", F32).shape([Named("O"), Named("K"), Named("T"), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (gate, up, x) = (call.port("gate")?, call.port("up")?, call.port("x")?);
    let (ids, out) = (call.port("ids")?, call.port("out")?);
    out.rows(|[slot, token, _]| {
        let expert = ids.index_below([slot, token, 0, 0], gate.shape()[2])?;
        let column = x.row([slot % x.shape()[1], token, 0]);
        for o in 0..out.shape()[0] {
            let opened = swiglu::gated(0, mul_mat::dot(&gate.row([o, expert, 0]), &column));
            out.put([o, slot, token, 0], opened * mul_mat::dot(&up.row([o, expert, 0]), &column));
        }
        Ok(())
    })
}
