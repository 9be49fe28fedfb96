//! Elements copied in order, converting between types; source and result may differ in shape.

use super::{Call, Kernel, KernelError};
use crate::contract::{Contract, Port, READABLE, Tolerance, WRITABLE};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        tolerance: Tolerance::EXACT,
        ..Contract::new("copy", &[Port::read("x", READABLE), Port::write("out", WRITABLE)])
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let mut all = Vec::new();
    x.rows(|outer| {
        all.extend(x.row(outer));
        Ok(())
    })?;
    let width = out.shape()[0].max(1) as usize;
    let mut rows = all.chunks_exact(width);
    out.rows(|outer| {
        if let Some(row) = rows.next() {
            out.put_row(outer, row);
        }
        Ok(())
    })
}
