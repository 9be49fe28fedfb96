//! Two matrices of weights times the same columns, the one product gated by the other.
//!
//! `out[o, t] = act(Σ_i gate[i, o]·x[i, t])·Σ_i up[i, o]·x[i, t]`

use super::{Call, Kernel, KernelError, mul_mat, swiglu};
use crate::contract::{
    ANY_WEIGHT, Absent, Attribute, Contract,
    Extent::{Is, Named},
    F32, FLOATS, Port,
};

/// The kernel. `kind` is the gate's function: 0 silu, 1 sigmoid.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Choice("kind", &[0, 1])],
        edges: &[1, 2, 8, 16, 64],
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        ..Contract::new(
            "mul_mat_swiglu",
            &[
                Port::read("gate", ANY_WEIGHT).shape([Named("I"), Named("O"), Is(1), Is(1)]),
                Port::read("up", ANY_WEIGHT).shape([Named("I"), Named("O"), Is(1), Is(1)]),
                Port::read("x", FLOATS).shape([Named("I"), Named("T"), Is(1), Is(1)]),
                Port::write("out", F32).shape([Named("O"), Named("T"), Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (gate, up, x, out) = (call.port("gate")?, call.port("up")?, call.port("x")?, call.port("out")?);
    let kind = call.constants.u32("kind")?;
    let [outs, tokens, ..] = out.shape();
    let columns: Vec<Vec<f64>> = (0..tokens).map(|t| x.row([t, 0, 0])).collect();
    for o in 0..outs {
        let (gate, up) = (gate.row([o, 0, 0]), up.row([o, 0, 0]));
        for (t, column) in columns.iter().enumerate() {
            let opened = swiglu::gated(kind, mul_mat::dot(&gate, column));
            out.put([o, t as u64, 0, 0], opened * mul_mat::dot(&up, column));
        }
    }
    Ok(())
}
