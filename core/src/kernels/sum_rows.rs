//! The sum of each row.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Contract,
    Extent::{Any, Is, Named},
    F32, FLOATS, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract::new(
        "sum_rows",
        &[
            Port::read("x", FLOATS).shape([Any, Named("N1"), Named("N2"), Named("N3")]),
            Port::write("out", F32).shape([Is(1), Named("N1"), Named("N2"), Named("N3")]),
        ],
    ),
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    x.rows(|outer| {
        out.put_row(outer, &[x.row(outer).iter().sum()]);
        Ok(())
    })
}
