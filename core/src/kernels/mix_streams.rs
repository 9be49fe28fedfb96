//! Residual streams read as one row, each value through a gate of its own.
//!
//! `out[d, t] = Σ_s sigmoid(gate[d, s, t])·x[d, s, t]`

use super::{Call, Kernel, KernelError, unary};
use crate::contract::{
    Contract,
    Extent::{Is, Named},
    F32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        edges: &[1, 2],
        ..Contract::new(
            "mix_streams",
            &[
                Port::read("x", F32).shape([Named("D"), Named("S"), Named("T"), Is(1)]),
                Port::read("gate", F32).shape([Named("D"), Named("S"), Named("T"), Is(1)]),
                Port::write("out", F32).shape([Named("D"), Named("T"), Is(1), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, gate, out) = (call.port("x")?, call.port("gate")?, call.port("out")?);
    out.rows(|[token, ..]| {
        let mut sums = vec![0.0; out.shape()[0] as usize];
        for stream in 0..x.shape()[1] {
            let outer = [stream, token, 0];
            let opened = gate.row(outer).into_iter().map(unary::sigmoid);
            sums.iter_mut().zip(x.row(outer)).zip(opened).for_each(|((sum, x), gate)| *sum += gate * x);
        }
        out.put_row([token, 0, 0], &sums);
        Ok(())
    })
}
