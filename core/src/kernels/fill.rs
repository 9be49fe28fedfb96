//! One value everywhere.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, FLOATS, Port, Tolerance};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("value")],
        tolerance: Tolerance::EXACT,
        ..Contract::new("fill", &[Port::write("out", FLOATS)])
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (out, value) = (call.port("out")?, f64::from(call.constants.f32("value")?));
    let row = vec![value; out.shape()[0] as usize];
    out.rows(|outer| {
        out.put_row(outer, &row);
        Ok(())
    })
}
