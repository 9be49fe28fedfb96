//! A function of one value.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Extent::Named, FLOATS, Port};
use crate::graph::UnaryKind;

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Integer("kind", 0, KINDS.len() as u32 - 1)],
        may_alias: &[("x", "out")],
        ..Contract::new(
            "unary",
            &[
                Port::read("x", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

/// All kinds, in the order of their discriminants.
pub const KINDS: [UnaryKind; 13] = [
    UnaryKind::Silu,
    UnaryKind::Sigmoid,
    UnaryKind::Softplus,
    UnaryKind::Relu,
    UnaryKind::Gelu,
    UnaryKind::Exp,
    UnaryKind::Tanh,
    UnaryKind::Neg,
    UnaryKind::Abs,
    UnaryKind::Sgn,
    UnaryKind::Sqrt,
    UnaryKind::Square,
    UnaryKind::Log,
];

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `ln(1 + e^x)`; x itself above 20, where e^x would overflow sooner or later.
pub fn softplus(x: f64) -> f64 {
    if x > 20.0 { x } else { x.exp().ln_1p() }
}

/// The function of a kind.
pub fn value(kind: UnaryKind, x: f64) -> f64 {
    match kind {
        UnaryKind::Silu => x * sigmoid(x),
        UnaryKind::Sigmoid => sigmoid(x),
        UnaryKind::Softplus => softplus(x),
        UnaryKind::Relu => {
            if x > 0.0 || x.is_nan() {
                x
            } else {
                0.0
            }
        }
        // The tanh form, as published models use it.
        UnaryKind::Gelu => 0.5 * x * (1.0 + (0.797_884_560_802_865_4 * x * (1.0 + 0.044_715 * x * x)).tanh()),
        UnaryKind::Exp => x.exp(),
        UnaryKind::Tanh => x.tanh(),
        UnaryKind::Neg => -x,
        UnaryKind::Abs => x.abs(),
        UnaryKind::Sgn => {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                x * 0.0
            }
        }
        UnaryKind::Sqrt => x.sqrt(),
        UnaryKind::Square => x * x,
        UnaryKind::Log => x.ln(),
    }
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let kind = KINDS[(call.constants.u32("kind")? as usize).min(KINDS.len() - 1)];
    out.rows(|outer| {
        let row: Vec<f64> = x.row(outer).into_iter().map(|v| value(kind, v)).collect();
        out.put_row(outer, &row);
        Ok(())
    })
}
