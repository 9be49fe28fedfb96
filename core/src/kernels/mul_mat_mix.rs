//! Residual streams read as one row, each value through a gate that a product opens.
//!
//! `out[d, t] = Σ_s sigmoid(Σ_i weight[i, d, s]·silu(x[i, t]))·streams[d, s, t]`

use super::{Call, Kernel, KernelError, mul_mat, unary};
use crate::contract::{
    ANY_WEIGHT, Absent, Contract,
    Extent::{Is, Named},
    F32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        edges: &[1, 2, 8, 16, 64],
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        ..Contract::new(
            "mul_mat_mix",
            &[
                Port::read("weight", ANY_WEIGHT).shape([Named("I"), Named("D"), Named("S"), Is(1)]),
                Port::read("x", F32).shape([Named("I"), Named("T"), Is(1), Is(1)]),
                Port::read("streams", F32).shape([Named("D"), Named("S"), Named("T"), Is(1)]),
                Port::write("out", F32).shape([Named("D"), Named("T"), Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (weight, x, streams, out) =
        (call.port("weight")?, call.port("x")?, call.port("streams")?, call.port("out")?);
    let [outs, tokens, ..] = out.shape();
    let silu = |v: f64| v * unary::sigmoid(v);
    let columns: Vec<Vec<f64>> =
        (0..tokens).map(|t| x.row([t, 0, 0]).into_iter().map(silu).collect()).collect();
    for d in 0..outs {
        let weights: Vec<Vec<f64>> = (0..weight.shape()[2]).map(|s| weight.row([d, s, 0])).collect();
        for (t, column) in columns.iter().enumerate() {
            let gates = weights.iter().map(|row| unary::sigmoid(mul_mat::dot(row, column)));
            let opened = gates.enumerate().map(|(s, gate)| gate * streams.get([d, s as u64, t as u64, 0]));
            out.put([d, t as u64, 0, 0], opened.sum());
        }
    }
    Ok(())
}
