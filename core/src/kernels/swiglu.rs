//! `out = silu(gate)·up`, or `sigmoid(gate)·up` where `kind` says so.

use super::{Call, Kernel, KernelError, unary};
use crate::contract::{Attribute, Contract, Extent::Named, FLOATS, Port};

const ALL: [crate::contract::Extent; 4] = [Named("N0"), Named("N1"), Named("N2"), Named("N3")];

/// The kernel. `kind` 0 is silu, 1 is sigmoid.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Choice("kind", &[0, 1])],
        may_alias: &[("gate", "out"), ("up", "out")],
        ..Contract::new(
            "swiglu",
            &[
                Port::read("gate", FLOATS).shape(ALL),
                Port::read("up", FLOATS).shape(ALL),
                Port::write("out", FLOATS).shape(ALL),
            ],
        )
    },
    reference,
};

/// The gate's function by discriminant.
pub(crate) fn gated(kind: u32, gate: f64) -> f64 {
    if kind == 0 { gate * unary::sigmoid(gate) } else { unary::sigmoid(gate) }
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (gate, up, out) = (call.port("gate")?, call.port("up")?, call.port("out")?);
    let kind = call.constants.u32("kind")?;
    out.rows(|outer| {
        let row: Vec<f64> =
            gate.row(outer).into_iter().zip(up.row(outer)).map(|(g, u)| gated(kind, g) * u).collect();
        out.put_row(outer, &row);
        Ok(())
    })
}
