//! Rows written into existing storage at given indices; an index of -1 drops its row.
//!
//! `out[:, rows[t, b mod .., c mod ..], b, c] = x[:, t, b, c]`, later rows win.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Access, CACHE, Contract,
    Extent::{Any, Is, Named, Repeats},
    FLOATS, INDICES, Port, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "set_rows",
            &[
                Port::read("x", FLOATS).shape([Named("D"), Named("T"), Named("B"), Named("C")]),
                Port::read("rows", INDICES).shape([Named("T"), Repeats("B"), Repeats("C"), Is(1)]),
                Port { access: Access::Update, ..Port::write("out", CACHE) }.shape([
                    Named("D"),
                    Any,
                    Named("B"),
                    Named("C"),
                ]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, rows, out) = (call.port("x")?, call.port("rows")?, call.port("out")?);
    x.rows(|[t, b, c]| {
        let at = [t, b % rows.shape()[1], c % rows.shape()[2], 0];
        if rows.index(at) != -1 {
            let row = rows.index_below(at, out.shape()[1])?;
            out.put_row([row, b, c], &x.row([t, b, c]));
        }
        Ok(())
    })
}
