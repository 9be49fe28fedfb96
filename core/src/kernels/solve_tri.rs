//! Solves `A·X = B` for lower triangular A, matrix by matrix; row i of X is `[:, i]`.

use super::{Call, Kernel, KernelError};
use crate::contract::{Contract, Extent::Named, F32, Port};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract::new(
        "solve_tri",
        &[
            Port::read("a", F32).shape([Named("N"), Named("N"), Named("N2"), Named("N3")]),
            Port::read("b", F32).shape([Named("M"), Named("N"), Named("N2"), Named("N3")]),
            Port::write("out", F32).shape([Named("M"), Named("N"), Named("N2"), Named("N3")]),
        ],
    ),
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (a, b, out) = (call.port("a")?, call.port("b")?, call.port("out")?);
    let [_, n, n2, n3] = a.shape();
    for i3 in 0..n3 {
        for i2 in 0..n2 {
            let mut solved: Vec<Vec<f64>> = Vec::new();
            for i in 0..n {
                let (factors, mut row) = (a.row([i, i2, i3]), b.row([i, i2, i3]));
                for (j, earlier) in solved.iter().enumerate() {
                    row.iter_mut().zip(earlier).for_each(|(x, e)| *x -= factors[j] * e);
                }
                row.iter_mut().for_each(|x| *x /= factors[i as usize]);
                out.put_row([i, i2, i3], &row);
                solved.push(row);
            }
        }
    }
    Ok(())
}
