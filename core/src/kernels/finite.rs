//! Where each row first holds something else than a finite number: what observers add to a plan. No rule proposes it.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Attribute, Contract,
    Extent::{Any, Is, Named},
    FLOATS, I32, Port, Tolerance,
};

/// The kernel. `out` is the index of the row's first value that is not finite, or -1; with `minus_infinity` at 1 that value
/// passes, as masks and scores of what cannot be seen hold it.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Choice("minus_infinity", &[0, 1])],
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "finite",
            &[
                Port::read("x", FLOATS).shape([Any, Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", I32).shape([Is(1), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let passes = call.constants.u32("minus_infinity")? == 1;
    x.rows(|outer| {
        let bad = |value: &f64| !(value.is_finite() || passes && *value == f64::NEG_INFINITY);
        let first = x.row(outer).iter().position(bad).map_or(-1.0, |index| index as f64);
        out.put_row(outer, &[first]);
        Ok(())
    })
}
