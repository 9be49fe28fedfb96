//! What the chosen experts of each token give, that of an expert that all tokens use, the residual, and the norm of their sum.
//!
//! `sum[d, t] = residual[d, t] + Σ_s weights[s, t]·x[d, s, t] + sigmoid(gate[t])·extra[d, t]`, the last term where its ports are
//! bound; `out = sum / sqrt(mean(sum²) + eps)·weight`

use super::{Call, Kernel, KernelError, expert_sum, rms_norm};
use crate::contract::{
    Absent, Attribute, Contract,
    Extent::{Is, Named},
    F32, Port,
};

const ROWS: [crate::contract::Extent; 4] = [Named("D"), Named("T"), Is(1), Is(1)];

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("eps")],
        needs: &[("extra", "gate"), ("gate", "extra")],
        edges: &[1, 2],
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        ..Contract::new(
            "expert_sum_norm",
            &[
                Port::read("x", F32).shape([Named("D"), Named("K"), Named("T"), Is(1)]),
                Port::read("weights", F32).shape([Named("K"), Named("T"), Is(1), Is(1)]),
                Port::read("extra", F32).shape(ROWS).optional(),
                Port::read("gate", F32).shape([Is(1), Named("T"), Is(1), Is(1)]).optional(),
                Port::read("residual", F32).shape(ROWS),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::write("sum", F32).shape(ROWS),
                Port::write("out", F32).shape(ROWS),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (residual, sum, out) = (call.port("residual")?, call.port("sum")?, call.port("out")?);
    let eps = f64::from(call.constants.f32("eps")?);
    let weight = call.port("weight")?.row([0, 0, 0]);
    expert_sum::each_sum(call, |outer, given| {
        let row: Vec<f64> = residual.row(outer).iter().zip(&given).map(|(a, b)| a + b).collect();
        let factor = rms_norm::factor(&row, eps);
        let scaled: Vec<f64> = row.iter().zip(&weight).map(|(v, w)| v * factor * w).collect();
        sum.put_row(outer, &row);
        out.put_row(outer, &scaled);
    })
}
