//! Causal depthwise convolution over tokens.
//!
//! Without `history`, x is `[time, channel, sequence]` with the history in front:
//! `out[c, t, s] = Σ_k x[t + k·dilation, c, s]·weight[k, c]`. With it, x is `[channel, row]`, each segment's earlier inputs
//! come from its slot of `history` `[reach, channel, slot]` (oldest first), and a fresh segment's are zero. A history that
//! reaches further back than the taps do lets a segment start some tokens before the newest.

use super::{Call, Kernel, KernelError, segments};
use crate::contract::{
    Allowed, Attribute, Contract,
    Extent::{Any, Is, Named},
    F32, FLOATS, I32, Port, Symbol,
};
use crate::segment::Segment;

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[Symbol { name: "taps", allowed: Allowed::Between(1, 1 << 16) }],
        ones: &[("S", "segments")],
        needs: &[("history", "segments"), ("segments", "history")],
        attributes: &[Attribute::Integer("dilation", 1, 64)],
        edges: &[1, 3, 4],
        ..Contract::new(
            "ssm_conv",
            &[
                Port::read("x", F32).shape([Any, Any, Named("S"), Is(1)]),
                Port::read("weight", FLOATS).shape([Named("taps"), Named("C"), Is(1), Is(1)]),
                Port::read("history", F32).shape([Any, Named("C"), Any, Is(1)]).optional(),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]).optional(),
                Port::write("out", F32).shape([Named("C"), Named("T"), Named("S"), Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, weight, out) = (call.port("x")?, call.port("weight")?, call.port("out")?);
    let dilation = u64::from(call.constants.u32("dilation")?);
    let taps = weight.shape()[0];
    let Some(table) = call.maybe("segments") else {
        return out.rows(|[t, s, _]| {
            for c in 0..out.shape()[0] {
                let sum: f64 =
                    (0..taps).map(|k| x.get([t + k * dilation, c, s, 0]) * weight.get([k, c, 0, 0])).sum();
                out.put([c, t, s, 0], sum);
            }
            Ok(())
        });
    };
    let history = call.port("history")?;
    let reach = history.shape()[0];
    for segment in segments(&table, x.shape()[1], history.shape()[2])? {
        for i in 0..u64::from(segment.count) {
            for c in 0..x.shape()[0] {
                let past = |steps: u64| {
                    past(
                        &segment,
                        i,
                        steps,
                        reach,
                        |t| history.get([t, c, u64::from(segment.slot), 0]),
                        |r| x.get([c, r, 0, 0]),
                    )
                };
                let sum: f64 =
                    (0..taps).map(|k| past((taps - 1 - k) * dilation) * weight.get([k, c, 0, 0])).sum();
                out.put([c, u64::from(segment.row) + i, 0, 0], sum);
            }
        }
    }
    Ok(())
}

/// A segment's input `steps` tokens before its token `i`: from the ubatch, from the history, or zero at a fresh start and
/// where the history does not reach. A segment that starts `plane` tokens back passes over as many of the history's newest.
pub(crate) fn past(
    segment: &Segment,
    i: u64,
    steps: u64,
    reach: u64,
    history: impl Fn(u64) -> f64,
    row: impl Fn(u64) -> f64,
) -> f64 {
    if steps <= i {
        row(u64::from(segment.row) + i - steps)
    } else if segment.fresh {
        0.0
    } else {
        (reach + i).checked_sub(steps + u64::from(segment.plane)).map_or(0.0, history)
    }
}
