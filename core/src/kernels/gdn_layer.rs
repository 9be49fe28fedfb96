//! A whole gated delta net between its projections, one dispatch, all state in place.
//!
//! Convolution of `[q of all heads | k | v]` rows with history, SiLU, norms of q and k, decay and write strength, the
//! recurrence, and the gated norm of its output. `history` and `state` are pools by slot. The history is read before its
//! tail is overwritten.

use super::{
    Call, Kernel, KernelError, gated_delta_net as delta, gdn_core, rms_norm, segments, ssm_conv, swiglu,
    unary,
};
use crate::contract::{
    Allowed, Attribute, Contract, Derived,
    Extent::{Any, Is, Named},
    F32, I32, Port, Quantity, Symbol, Tolerance,
};

/// The kernel. `act` is the gate's function: 0 silu, 1 sigmoid.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[
            Symbol { name: "D", allowed: Allowed::Between(1, 1 << 16) },
            Symbol { name: "taps", allowed: Allowed::Between(1, 1 << 16) },
        ],
        attributes: &[
            Attribute::Integer("key_heads", 1, 1 << 16),
            Attribute::Integer("snapshots", 1, 64),
            Attribute::Choice("heads", &[0, 1]),
            Attribute::Float("l2_eps"),
            Attribute::Choice("form", &[0, 1]),
            Attribute::Float("eps"),
            Attribute::Choice("act", &[0, 1]),
            Attribute::Integer("dilation", 1, 1),
        ],
        derived: &[
            Derived { name: "row_stride", port: "x", quantity: Quantity::Stride(1) },
            Derived { name: "gate_stride", port: "z", quantity: Quantity::Stride(2) },
        ],
        edges: &[1, 2, 64],
        tolerance: Tolerance { nmse_row: 1e-9, max_abs: 2e-4 },
        ..Contract::new(
            "gdn_layer",
            &[
                Port::read("x", F32).shape([Named("C"), Named("T"), Is(1), Is(1)]),
                Port::read("conv", F32).shape([Named("taps"), Named("C"), Is(1), Is(1)]),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]),
                Port::read("alpha", F32).shape([Named("H"), Named("T"), Is(1), Is(1)]),
                Port::read("dt", F32).shape([Named("H"), Is(1), Is(1), Is(1)]),
                Port::read("a", F32).shape([Named("H"), Is(1), Is(1), Is(1)]),
                Port::read("beta", F32).shape([Named("H"), Named("T"), Is(1), Is(1)]),
                Port::read("z", F32).shape([Named("D"), Named("H"), Named("T"), Is(1)]),
                Port::read("weight", F32).shape([Named("D"), Is(1), Is(1), Is(1)]),
                Port::write("out", F32).shape([Named("D"), Named("H"), Named("T"), Is(1)]),
                Port::update("history", F32).shape([Any, Named("C"), Any, Is(1)]),
                Port::update("state", F32).shape([Named("D"), Named("D"), Named("H"), Any]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, conv, table) = (call.port("x")?, call.port("conv")?, call.port("segments")?);
    let (alpha, dt, a, raw) = (call.port("alpha")?, call.port("dt")?, call.port("a")?, call.port("beta")?);
    let (z, weight, out) = (call.port("z")?, call.port("weight")?.row([0, 0, 0]), call.port("out")?);
    let (history, state) = (call.port("history")?, call.port("state")?);
    let constants = call.constants;
    let key_heads = u64::from(constants.u32("key_heads")?);
    let (map, snapshots) = (constants.u32("heads")?, u64::from(constants.u32("snapshots")?));
    let (l2_eps, form) = (f64::from(constants.f32("l2_eps")?), constants.u32("form")?);
    let (eps, act) = (f64::from(constants.f32("eps")?), constants.u32("act")?);
    let [dim, heads, tokens, _] = out.shape();
    let (channels, taps, reach) = (x.shape()[0], conv.shape()[0], history.shape()[0]);
    let slots = history.shape()[2].min(state.shape()[3] / snapshots);
    for segment in segments(&table, tokens, slots)? {
        let slot = u64::from(segment.slot);
        let old: Vec<Vec<f64>> = (0..channels).map(|c| history.row([c, slot, 0])).collect();
        let past = |c: u64, i: u64, steps: u64| {
            let held = |t: u64| old[c as usize][t as usize];
            ssm_conv::past(&segment, i, steps, reach, held, |r| x.get([c, r, 0, 0]))
        };
        let mixed: Vec<Vec<f64>> = (0..u64::from(segment.count))
            .map(|i| {
                (0..channels)
                    .map(|c| {
                        let sum = (0..taps).map(|k| past(c, i, taps - 1 - k) * conv.get([k, c, 0, 0])).sum();
                        unary::value(crate::graph::UnaryKind::Silu, sum)
                    })
                    .collect()
            })
            .collect();
        let base = slot * snapshots;
        let from = base + u64::from(segment.plane).min(snapshots - 1);
        for h in 0..heads {
            let mut matrix =
                if segment.fresh { vec![0.0; (dim * dim) as usize] } else { delta::load(&state, h, from) };
            let head = delta::key_head(map, h, heads, key_heads);
            for (i, row) in (0..).zip(&mixed) {
                let part = |start: u64| row[start as usize..(start + dim) as usize].to_vec();
                let query = gdn_core::unit(part(head * dim), l2_eps, form);
                let key = gdn_core::unit(part((key_heads + head) * dim), l2_eps, form);
                let value = part((2 * key_heads + h) * dim);
                let token = u64::from(segment.row) + i;
                let at_head = [h, 0, 0, 0];
                let gate = gdn_core::decay(alpha.get([h, token, 0, 0]), dt.get(at_head), a.get(at_head));
                let beta = unary::sigmoid(raw.get([h, token, 0, 0]));
                let o = delta::step(&mut matrix, &query, &key, &value, &[gate], beta);
                let factor = rms_norm::factor(&o, eps);
                let gates = z.row([h, token, 0]);
                let all: Vec<f64> =
                    (0..o.len()).map(|j| o[j] * factor * weight[j] * swiglu::gated(act, gates[j])).collect();
                out.put_row([h, token, 0], &all);
                let plane = u64::from(segment.count) - 1 - i;
                if plane < snapshots {
                    delta::store(&state, h, base + plane, &matrix);
                }
            }
        }
        if let Some(last) = u64::from(segment.count).checked_sub(1) {
            for c in 0..channels {
                let row: Vec<f64> = (0..reach).map(|t| past(c, last, reach - 1 - t)).collect();
                history.put_row([c, slot, 0], &row);
            }
        }
    }
    Ok(())
}
