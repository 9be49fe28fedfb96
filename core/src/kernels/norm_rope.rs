//! A norm per head, then rotary embedding.
//!
//! `out = rope(x / sqrt(mean(x²) + eps)·weight)`. See `rope` for the angles.

use super::{Call, Kernel, KernelError, rms_norm, rope};
use crate::contract::{
    Contract,
    Extent::{Any, AtLeast, Is, Named},
    F32, I32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: ATTRIBUTES,
        may_alias: &[("x", "out")],
        edges: &[1, 2],
        ..Contract::new(
            "norm_rope",
            &[
                Port::read("x", F32).shape([Named("D"), Named("H"), Named("T"), Is(1)]),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::read("positions", I32).shape([AtLeast("T"), Is(1), Is(1), Is(1)]),
                Port::read("divisors", F32).shape([Any, Is(1), Is(1), Is(1)]).optional(),
                Port::write("out", F32).shape([Named("D"), Named("H"), Named("T"), Is(1)]),
            ],
        )
    },
    reference,
};

/// Those of `rope`, and the norm's eps.
const ATTRIBUTES: &[crate::contract::Attribute] = &const {
    let rope = rope::KERNEL.contract.attributes;
    let mut all = [crate::contract::Attribute::Float("eps"); 12];
    let mut i = 0;
    while i < rope.len() {
        all[i] = rope[i];
        i += 1;
    }
    all
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let head = heads(call)?;
    x.rows(|outer| {
        out.put_row(outer, &head(outer));
        Ok(())
    })
}

/// Each head's normed and turned values by its outer indices.
pub(crate) fn heads(call: &Call<'_>) -> Result<impl Fn([u64; 3]) -> Vec<f64>, KernelError> {
    let x = call.port("x")?;
    let turn = turning(call, x.shape()[2])?;
    Ok(move |outer: [u64; 3]| turn(x.row(outer), outer[1]))
}

/// What norms and turns the values of a head, for its token of `tokens`.
pub(crate) fn turning(
    call: &Call<'_>,
    tokens: u64,
) -> Result<impl Fn(Vec<f64>, u64) -> Vec<f64>, KernelError> {
    let positions = call.port("positions")?;
    let divisors = call.maybe("divisors").map(|d| d.row([0, 0, 0]));
    let angles = rope::Angles::new(call.constants)?;
    let eps = f64::from(call.constants.f32("eps")?);
    let weight = call.port("weight")?.row([0, 0, 0]);
    Ok(move |mut row: Vec<f64>, token: u64| {
        let factor = rms_norm::factor(&row, eps);
        row.iter_mut().zip(&weight).for_each(|(v, w)| *v *= factor * w);
        let position = |axis: usize| positions.get([token + axis as u64 * tokens, 0, 0, 0]);
        rope::turn(&mut row, &angles, position, divisors.as_deref());
        row
    })
}
