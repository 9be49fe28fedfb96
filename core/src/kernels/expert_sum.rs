//! What the chosen experts of each token give, weighted and summed, and that of an expert that all tokens use.
//!
//! `out[o, t] = Σ_s weights[s, t]·x[o, s, t] + sigmoid(gate[t])·extra[o, t]`, the last term where its ports are bound.

use super::{Call, Kernel, KernelError, unary};
use crate::contract::{
    Contract,
    Extent::{Is, Named},
    F32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        needs: &[("extra", "gate"), ("gate", "extra")],
        edges: &[1, 2],
        ..Contract::new(
            "expert_sum",
            &[
                Port::read("x", F32).shape([Named("O"), Named("K"), Named("T"), Is(1)]),
                Port::read("weights", F32).shape([Named("K"), Named("T"), Is(1), Is(1)]),
                Port::read("extra", F32).shape([Named("O"), Named("T"), Is(1), Is(1)]).optional(),
                Port::read("gate", F32).shape([Is(1), Named("T"), Is(1), Is(1)]).optional(),
                Port::write("out", F32).shape([Named("O"), Named("T"), Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let out = call.port("out")?;
    each_sum(call, |outer, sums| out.put_row(outer, &sums))
}

/// Hands over the place and the sum of each token's row.
pub(super) fn each_sum(call: &Call<'_>, put: impl Fn([u64; 3], Vec<f64>)) -> Result<(), KernelError> {
    let (x, weights, out) = (call.port("x")?, call.port("weights")?, call.port("out")?);
    let shared = call.maybe("extra").zip(call.maybe("gate"));
    out.rows(|[token, ..]| {
        let mut sums = vec![0.0; out.shape()[0] as usize];
        let mut add = |factor: f64, row: Vec<f64>| {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
        };
        for slot in 0..x.shape()[1] {
            add(weights.get([slot, token, 0, 0]), x.row([slot, token, 0]));
        }
        if let Some((shared, gate)) = &shared {
            add(unary::sigmoid(gate.get([0, token, 0, 0])), shared.row([token, 0, 0]));
        }
        put([token, 0, 0], sums);
        Ok(())
    })
}
