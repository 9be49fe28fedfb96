//! A vector per batch entry becomes a diagonal matrix.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Contract,
    Extent::{Is, Named},
    F32, Port, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "diag",
            &[
                Port::read("x", F32).shape([Named("N"), Is(1), Named("N2"), Named("N3")]),
                Port::write("out", F32).shape([Named("N"), Named("N"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    out.rows(|[i, i2, i3]| {
        let mut row = vec![0.0; out.shape()[0] as usize];
        row[i as usize] = x.get([i, 0, i2, i3]);
        out.put_row([i, i2, i3], &row);
        Ok(())
    })
}
