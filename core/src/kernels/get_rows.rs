//! Rows of a table, chosen by index.
//!
//! `out[:, t, b, c] = table[:, rows[t, b, c], b, c]`

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Contract,
    Extent::{Any, Is, Named},
    INDICES, Port, READABLE,
};
use crate::graph::DType;

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        tolerance: crate::contract::Tolerance::EXACT,
        ..Contract::new(
            "get_rows",
            &[
                Port::read("table", READABLE).shape([Named("D"), Any, Named("B"), Named("C")]),
                Port::read("rows", INDICES).shape([Named("T"), Named("B"), Named("C"), Is(1)]),
                Port::write("out", &[DType::F32, DType::I32]).shape([
                    Named("D"),
                    Named("T"),
                    Named("B"),
                    Named("C"),
                ]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (table, rows, out) = (call.port("table")?, call.port("rows")?, call.port("out")?);
    out.rows(|[t, b, c]| {
        let row = rows.index_below([t, b, c, 0], table.shape()[1])?;
        out.put_row([t, b, c], &table.row([row, b, c]));
        Ok(())
    })
}
