//! A matrix of weights times columns of activations.
//!
//! `out[o, n, b, c] = Σ_i weight[i, o, b mod .., c mod ..]·x[i, n, b, c]`

use super::{Call, Kernel, KernelError, Operand};
use crate::contract::{
    ANY_WEIGHT, Contract,
    Extent::{Named, Repeats},
    F32, FLOATS, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        edges: &[1, 2, 8, 16, 64],
        ..Contract::new(
            "mul_mat",
            &[
                Port::read("weight", ANY_WEIGHT).shape([Named("I"), Named("O"), Repeats("B"), Repeats("C")]),
                Port::read("x", FLOATS).shape([Named("I"), Named("T"), Named("B"), Named("C")]),
                Port::write("out", F32).shape([Named("O"), Named("T"), Named("B"), Named("C")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    product(&call.port("weight")?, &call.port("x")?, &call.port("out")?);
    Ok(())
}

/// One product.
pub(crate) fn product(weight: &Operand<'_>, x: &Operand<'_>, out: &Operand<'_>) {
    let [outs, tokens, n2, n3] = out.shape();
    for c in 0..n3 {
        for b in 0..n2 {
            let columns: Vec<Vec<f64>> = (0..tokens).map(|t| x.row([t, b, c])).collect();
            for o in 0..outs {
                let row = weight.row([o, b % weight.shape()[2], c % weight.shape()[3]]);
                for (t, column) in columns.iter().enumerate() {
                    out.put([o, t as u64, b, c], dot(&row, column));
                }
            }
        }
    }
}

/// `Σ_i a[i]·b[i]`
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
