//! `softmax(x·scale + mask)` along rows; a row that is masked whole gives zeros.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Attribute, Contract,
    Extent::{AtLeast, Named, Repeats},
    F32, FLOATS, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("scale")],
        may_alias: &[("x", "out")],
        ..Contract::new(
            "softmax",
            &[
                Port::read("x", F32).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
                Port::read("mask", FLOATS)
                    .shape([Named("N0"), AtLeast("N1"), Repeats("N2"), Repeats("N3")])
                    .optional(),
                Port::write("out", F32).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

/// Softmax of scores; excluded cells hold minus infinity. `sink` joins the denominator.
pub(crate) fn softmax(scores: &mut [f64], sink: Option<f64>) {
    let most = scores
        .iter()
        .copied()
        .chain(sink)
        .fold(f64::NEG_INFINITY, |m, v| if v.is_nan() || v > m { v } else { m });
    if most == f64::NEG_INFINITY {
        scores.fill(0.0);
        return;
    }
    let mut sum = sink.map_or(0.0, |s| (s - most).exp());
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|s| *s /= sum);
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, out) = (call.port("x")?, call.port("out")?);
    let (mask, scale) = (call.maybe("mask"), f64::from(call.constants.f32("scale")?));
    x.rows(|outer| {
        let mut scores: Vec<f64> = x.row(outer).into_iter().map(|v| v * scale).collect();
        if let Some(mask) = mask {
            let [m1, m2, m3] = mask.repeated(outer);
            scores.iter_mut().zip(mask.row([m1, m2, m3])).for_each(|(s, m)| *s += m);
        }
        softmax(&mut scores, None);
        out.put_row(outer, &scores);
        Ok(())
    })
}
