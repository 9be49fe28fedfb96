//! Rows scaled to Euclidean length one.
//!
//! Form 0: `out = x / max(length, eps)`. Form 1: `out = x / sqrt(length² + eps)`. A row of zeros stays zero in form 1 and,
//! for eps > 0, in form 0.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Extent::Named, F32, FLOATS, Port};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("eps"), Attribute::Choice("form", &[0, 1])],
        may_alias: &[("x", "out")],
        edges: &[1, 2],
        ..Contract::new(
            "l2_norm",
            &[
                Port::read("x", FLOATS).shape([Named("D"), Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", F32).shape([Named("D"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

/// The factor that brings a row to length one.
pub(crate) fn factor(row: &[f64], eps: f64, form: u32) -> f64 {
    let square: f64 = row.iter().map(|v| v * v).sum();
    if form == 0 { 1.0 / square.sqrt().max(eps) } else { 1.0 / (square + eps).sqrt() }
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let (eps, form) = (f64::from(call.constants.f32("eps")?), call.constants.u32("form")?);
    x.rows(|outer| {
        let row = x.row(outer);
        let factor = factor(&row, eps, form);
        let scaled: Vec<f64> = row.iter().map(|v| v * factor).collect();
        out.put_row(outer, &scaled);
        Ok(())
    })
}
