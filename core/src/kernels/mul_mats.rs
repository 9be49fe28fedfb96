//! Up to four matrices of weights times the same columns of activations.
//!
//! `out_j[o, t] = Σ_i w_j[i, o]·x[i, t]` for each j whose ports are bound.

use super::{Call, Kernel, KernelError, mul_mat};
use crate::contract::{
    ANY_WEIGHT, Absent, Contract,
    Extent::{Is, Named},
    F32, FLOATS, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        needs: &[("w2", "out2"), ("out2", "w2"), ("w3", "out3"), ("out3", "w3"), ("w3", "w2")],
        edges: &[1, 2, 8, 16, 64],
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        ..Contract::new(
            "mul_mats",
            &[
                Port::read("x", FLOATS).shape([Named("I"), Named("T"), Is(1), Is(1)]),
                Port::read("w0", ANY_WEIGHT).shape([Named("I"), Named("O0"), Is(1), Is(1)]),
                Port::read("w1", ANY_WEIGHT).shape([Named("I"), Named("O1"), Is(1), Is(1)]),
                Port::read("w2", ANY_WEIGHT).shape([Named("I"), Named("O2"), Is(1), Is(1)]).optional(),
                Port::read("w3", ANY_WEIGHT).shape([Named("I"), Named("O3"), Is(1), Is(1)]).optional(),
                Port::write("out0", F32).shape([Named("O0"), Named("T"), Is(1), Is(1)]),
                Port::write("out1", F32).shape([Named("O1"), Named("T"), Is(1), Is(1)]),
                Port::write("out2", F32).shape([Named("O2"), Named("T"), Is(1), Is(1)]).optional(),
                Port::write("out3", F32).shape([Named("O3"), Named("T"), Is(1), Is(1)]).optional(),
            ],
        )
    },
    reference,
};

/// The ports of each product: weight and result.
pub(crate) const PRODUCTS: [(&str, &str); 4] =
    [("w0", "out0"), ("w1", "out1"), ("w2", "out2"), ("w3", "out3")];

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let x = call.port("x")?;
    for (weight, out) in PRODUCTS {
        if let Some(weight) = call.maybe(weight) {
            mul_mat::product(&weight, &x, &call.port(out)?);
        }
    }
    Ok(())
}
