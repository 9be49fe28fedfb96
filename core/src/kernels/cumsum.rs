//! The running sum along each row.

use super::{Call, Kernel, KernelError};
use crate::contract::{Contract, Extent::Named, F32, Port};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        may_alias: &[("x", "out")],
        ..Contract::new(
            "cumsum",
            &[
                Port::read("x", F32).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", F32).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    x.rows(|outer| {
        let mut sum = 0.0;
        let mut row = x.row(outer);
        for value in &mut row {
            sum += *value;
            *value = sum;
        }
        out.put_row(outer, &row);
        Ok(())
    })
}
