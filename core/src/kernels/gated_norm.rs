//! A norm times a gate: the epilogue of a gated delta net.
//!
//! `out = x / sqrt(mean(x²) + eps)·weight·act(gate)` per row; `act` 0 is silu, 1 sigmoid.

use super::{Call, Kernel, KernelError, rms_norm, swiglu};
use crate::contract::{
    Attribute, Contract,
    Extent::{Is, Named},
    F32, Port,
};

const ALL: [crate::contract::Extent; 4] = [Named("D"), Named("N1"), Named("N2"), Named("N3")];

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("eps"), Attribute::Choice("act", &[0, 1])],
        may_alias: &[("x", "out"), ("gate", "out")],
        ..Contract::new(
            "gated_norm",
            &[
                Port::read("x", F32).shape(ALL),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::read("gate", F32).shape(ALL),
                Port::write("out", F32).shape(ALL),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, gate, out) = (call.port("x")?, call.port("gate")?, call.port("out")?);
    let (eps, act) = (f64::from(call.constants.f32("eps")?), call.constants.u32("act")?);
    let weight = call.port("weight")?.row([0, 0, 0]);
    x.rows(|outer| {
        let row = x.row(outer);
        let factor = rms_norm::factor(&row, eps);
        let gate = gate.row(outer);
        let all: Vec<f64> =
            (0..row.len()).map(|i| row[i] * factor * weight[i] * swiglu::gated(act, gate[i])).collect();
        out.put_row(outer, &all);
        Ok(())
    })
}
