//! Indices that sort each row, ties to the lower index; NaN sorts as the smallest.

use super::{Call, Kernel, KernelError};
use crate::contract::{Attribute, Contract, Extent::Named, F32, I32, Port, Tolerance};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Choice("descending", &[0, 1])],
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "argsort",
            &[
                Port::read("x", F32).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
                Port::write("out", I32).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let descending = call.constants.u32("descending")? == 1;
    x.rows(|outer| {
        let row = x.row(outer);
        let key = |i: usize| if row[i].is_nan() { f64::NEG_INFINITY } else { row[i] };
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(
            |a, b| if descending { key(*b).total_cmp(&key(*a)) } else { key(*a).total_cmp(&key(*b)) },
        );
        let order: Vec<f64> = order.into_iter().map(|i| i as f64).collect();
        out.put_row(outer, &order);
        Ok(())
    })
}
