//! One triangle of each square matrix; the rest becomes zero by selection, whatever it held.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Extent::Named, F32, Port, Tolerance};

/// The kernel. `keep`: 0 below, 1 below and on, 2 above, 3 above and on the diagonal.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Choice("keep", &[0, 1, 2, 3])],
        may_alias: &[("x", "out")],
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "tri",
            &[
                Port::read("x", F32).shape([Named("N"), Named("N"), Named("N2"), Named("N3")]),
                Port::write("out", F32).shape([Named("N"), Named("N"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let keep = call.constants.u32("keep")?;
    x.rows(|outer| {
        let (mut row, i) = (x.row(outer), outer[0] as usize);
        for (j, value) in row.iter_mut().enumerate() {
            let kept = match keep {
                0 => j < i,
                1 => j <= i,
                2 => j > i,
                _ => j >= i,
            };
            if !kept {
                *value = 0.0;
            }
        }
        out.put_row(outer, &row);
        Ok(())
    })
}
