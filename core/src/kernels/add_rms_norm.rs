//! A residual sum and its norm in one pass.
//!
//! `sum = a + b`; `out = sum / sqrt(mean(sum²) + eps)·weight`

use super::{Call, Kernel, KernelError, rms_norm};
use crate::contract::{
    Attribute, Contract,
    Extent::{Is, Named},
    F32, Port,
};

const ALL: [crate::contract::Extent; 4] = [Named("D"), Named("N1"), Named("N2"), Named("N3")];

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("eps")],
        may_alias: &[("a", "sum"), ("b", "sum"), ("a", "out"), ("b", "out")],
        edges: &[1, 2],
        ..Contract::new(
            "add_rms_norm",
            &[
                Port::read("a", F32).shape(ALL),
                Port::read("b", F32).shape(ALL),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::write("sum", F32).shape(ALL),
                Port::write("out", F32).shape(ALL),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (a, b, sum, out) = (call.port("a")?, call.port("b")?, call.port("sum")?, call.port("out")?);
    let eps = f64::from(call.constants.f32("eps")?);
    let weight = call.port("weight")?.row([0, 0, 0]);
    a.rows(|outer| {
        let row: Vec<f64> = a.row(outer).iter().zip(b.row(outer)).map(|(a, b)| a + b).collect();
        let factor = rms_norm::factor(&row, eps);
        let scaled: Vec<f64> = row.iter().zip(&weight).map(|(v, w)| v * factor * w).collect();
        sum.put_row(outer, &row);
        out.put_row(outer, &scaled);
        Ok(())
    })
}
