//! Values limited to a range; NaN stays NaN.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Extent::Named, FLOATS, Port};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("min"), Attribute::Float("max")],
        may_alias: &[("x", "out")],
        ..Contract::new(
            "clamp",
            &[
                Port::read("x", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let (min, max) = (f64::from(call.constants.f32("min")?), f64::from(call.constants.f32("max")?));
    let limited = |v: f64| {
        if v < min {
            min
        } else if v > max {
            max
        } else {
            v
        }
    };
    x.rows(|outer| {
        let row: Vec<f64> = x.row(outer).into_iter().map(limited).collect();
        out.put_row(outer, &row);
        Ok(())
    })
}
