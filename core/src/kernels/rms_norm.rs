//! Rows scaled by the root of their mean square, then by a weight if there is one.
//!
//! `out = x / sqrt(mean(x²) + eps)·weight`

use super::{Call, Kernel, KernelError, Operand};
use crate::contract::{
    Attribute, Contract,
    Extent::{Is, Named},
    F32, FLOATS, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("eps")],
        may_alias: &[("x", "out")],
        edges: &[1, 2],
        ..Contract::new(
            "rms_norm",
            &[
                Port::read("x", FLOATS).shape([Named("D"), Named("N1"), Named("N2"), Named("N3")]),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]).optional(),
                Port::write("out", F32).shape([Named("D"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

/// The factor that brings a row's mean square to one.
pub(crate) fn factor(row: &[f64], eps: f64) -> f64 {
    let mean = row.iter().map(|v| v * v).sum::<f64>() / row.len().max(1) as f64;
    1.0 / (mean + eps).sqrt()
}

/// A weight of one row, or ones.
pub(crate) fn weights(weight: Option<Operand<'_>>, width: usize) -> Vec<f64> {
    weight.map_or_else(|| vec![1.0; width], |weight| weight.row([0, 0, 0]))
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let eps = f64::from(call.constants.f32("eps")?);
    let weight = weights(call.maybe("weight"), x.shape()[0] as usize);
    x.rows(|outer| {
        let row = x.row(outer);
        let factor = factor(&row, eps);
        let scaled: Vec<f64> = row.iter().zip(&weight).map(|(v, w)| v * factor * w).collect();
        out.put_row(outer, &scaled);
        Ok(())
    })
}
