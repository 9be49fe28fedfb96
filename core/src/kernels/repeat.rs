//! A tensor repeated along every dimension to a larger shape.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Contract,
    Extent::{Named, Repeats},
    FLOATS, Port, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "repeat",
            &[
                Port::read("x", FLOATS).shape([Repeats("N0"), Repeats("N1"), Repeats("N2"), Repeats("N3")]),
                Port::write("out", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    out.rows(|outer| {
        let [i1, i2, i3] = x.repeated(outer);
        for i0 in 0..out.shape()[0] {
            out.put([i0, outer[0], outer[1], outer[2]], x.get([i0 % x.shape()[0], i1, i2, i3]));
        }
        Ok(())
    })
}
