//! Indices of the k largest of each row, in descending order of value, ties to the lower index.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Allowed, Attribute, Contract,
    Extent::{AtLeast, Named},
    F32, I32, Port, Symbol, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[Symbol { name: "K", allowed: Allowed::Between(1, u32::MAX as u64) }],
        attributes: &[Attribute::Integer("k", 1, u32::MAX)],
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "top_k",
            &[
                Port::read("x", F32).shape([AtLeast("K"), Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", I32).shape([Named("K"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

/// Indices of a row, largest first, ties to the lower index; NaN counts as the smallest.
pub(crate) fn descending(row: &[f64]) -> Vec<usize> {
    let key = |i: usize| if row[i].is_nan() { f64::NEG_INFINITY } else { row[i] };
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|a, b| key(*b).total_cmp(&key(*a)));
    order
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    out.rows(|outer| {
        let order = descending(&x.row(outer));
        let row: Vec<f64> = order.iter().take(out.shape()[0] as usize).map(|i| *i as f64).collect();
        out.put_row(outer, &row);
        Ok(())
    })
}
