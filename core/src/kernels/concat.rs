//! Two tensors joined along a dimension.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Port, Tolerance};
use crate::graph::DType;

const PLAIN: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::I32];

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Integer("dim", 0, 3)],
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "concat",
            &[Port::read("a", PLAIN), Port::read("b", PLAIN), Port::write("out", PLAIN)],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (a, b, out) = (call.port("a")?, call.port("b")?, call.port("out")?);
    let dim = call.constants.u32("dim")?.min(3) as usize;
    let cut = a.shape()[dim];
    out.rows(|[i1, i2, i3]| {
        for i0 in 0..out.shape()[0] {
            let at = [i0, i1, i2, i3];
            let mut from = at;
            let value = if at[dim] < cut {
                a.get(from)
            } else {
                from[dim] -= cut;
                b.get(from)
            };
            out.put(at, value);
        }
        Ok(())
    })
}
