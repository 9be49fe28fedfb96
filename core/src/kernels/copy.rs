//! Elements copied in order, converting between types; source and result may differ in shape.

use super::{Call, Kernel, KernelError};
use crate::contract::{ANY_WEIGHT, CACHE, Contract, Port, Tolerance};
use crate::graph::DType;

const SOURCES: &[DType] = &const {
    let mut all = [DType::I32; ANY_WEIGHT.len() + 1];
    let mut i = 0;
    while i < ANY_WEIGHT.len() {
        all[i + 1] = ANY_WEIGHT[i];
        i += 1;
    }
    all
};
const RESULTS: &[DType] = &const {
    let mut all = [DType::I32; CACHE.len() + 1];
    let mut i = 0;
    while i < CACHE.len() {
        all[i + 1] = CACHE[i];
        i += 1;
    }
    all
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        tolerance: Tolerance::EXACT,
        ..Contract::new("copy", &[Port::read("x", SOURCES), Port::write("out", RESULTS)])
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
