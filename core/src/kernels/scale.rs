//! `out = x·scale + bias`

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Extent::Named, FLOATS, Port};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("scale"), Attribute::Float("bias")],
        may_alias: &[("x", "out")],
        ..Contract::new(
            "scale",
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
    let (scale, bias) = (f64::from(call.constants.f32("scale")?), f64::from(call.constants.f32("bias")?));
    out.rows(|outer| {
        // Scaling by zero clears a state, whatever it held: the product is not formed.
        let cleared = |v: f64| if scale == 0.0 { bias } else { v * scale + bias };
        let row: Vec<f64> = x.row(outer).into_iter().map(cleared).collect();
        out.put_row(outer, &row);
        Ok(())
    })
}
