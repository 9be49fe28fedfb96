//! A layer's output added to residual streams by shares, and the norm of each stream.
//!
//! `sum[:, s, t] = x[:, s, t] + gain·sigmoid(shares[s, t])·y[:, s, t]`;
//! `out[:, s, t] = sum[:, s, t] / sqrt(mean(sum[:, s, t]²) + eps)·factor·weight[:, s]`
//!
//! Rows are streams: `[embedding, streams, tokens]`. `y` holds a row for each of them, most often one row seen repeatedly.

use super::{Call, Kernel, KernelError, rms_norm, unary};
use crate::contract::{
    Attribute, Contract,
    Extent::{Is, Named},
    F32, Port,
};

const ALL: [crate::contract::Extent; 4] = [Named("D"), Named("S"), Named("T"), Is(1)];

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("gain"), Attribute::Float("eps"), Attribute::Float("factor")],
        may_alias: &[("x", "sum"), ("x", "out")],
        edges: &[1, 2],
        ..Contract::new(
            "combine_norm",
            &[
                Port::read("x", F32).shape(ALL),
                Port::read("y", F32).shape(ALL),
                Port::read("shares", F32).shape([Is(1), Named("S"), Named("T"), Is(1)]),
                Port::read("weight", F32).shape([Named("D"), Named("S"), Is(1), Is(1)]),
                Port::write("sum", F32).shape(ALL),
                Port::write("out", F32).shape(ALL),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, y, shares, weight) =
        (call.port("x")?, call.port("y")?, call.port("shares")?, call.port("weight")?);
    let (sum, out) = (call.port("sum")?, call.port("out")?);
    let constant = |name| call.constants.f32(name).map(f64::from);
    let (gain, eps, factor) = (constant("gain")?, constant("eps")?, constant("factor")?);
    x.rows(|outer| {
        let [stream, i2, i3] = outer;
        let share = gain * unary::sigmoid(shares.get([0, stream, i2, i3]));
        let row: Vec<f64> = x.row(outer).iter().zip(y.row(outer)).map(|(x, y)| x + share * y).collect();
        let root = rms_norm::factor(&row, eps) * factor;
        let weight = weight.row([stream, 0, 0]);
        sum.put_row(outer, &row);
        out.put_row(outer, &row.iter().zip(weight).map(|(v, w)| v * root * w).collect::<Vec<_>>());
        Ok(())
    })
}
