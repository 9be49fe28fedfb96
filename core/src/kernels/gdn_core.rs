//! A gated delta net with everything that only feeds it: the norms of q and k, the decay and the write strength.
//!
//! `q, k ← l2_norm`; `gate = a·softplus(alpha + dt)`; `beta ← sigmoid(beta)`; then as `gated_delta_net`. With `rows`, the
//! state of sequence s is read from the pool at `rows[s]`; with `state_out` and no `segments`, the newest state of each
//! sequence is stored there too. q, k and v may be slices of one convolution row.

use super::{Call, Kernel, KernelError, gated_delta_net as delta, l2_norm, unary};
use crate::contract::{
    Attribute, Contract,
    Extent::{Any, AtLeast, Is, Named},
    F32, I32, INDICES, Port, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: delta::HEADS,
        ones: &[("S", "segments")],
        needs: &[("segments", "state_out")],
        attributes: &[
            Attribute::Integer("snapshots", 1, 64),
            Attribute::Choice("heads", &[0, 1]),
            Attribute::Float("eps"),
            Attribute::Choice("form", &[0, 1]),
        ],
        may_alias: &[("state", "state_out")],
        edges: &[1, 2, 64],
        tolerance: Tolerance { nmse_row: 1e-9, max_abs: 1e-4 },
        ..Contract::new(
            "gdn_core",
            &[
                Port::read("q", F32).shape([Named("D"), Named("G"), Named("T"), Named("R")]),
                Port::read("k", F32).shape([Named("D"), Named("G"), Named("T"), Named("R")]),
                Port::read("v", F32).shape([Named("D"), Named("H"), Named("T"), Named("S")]),
                Port::read("alpha", F32).shape([Named("H"), Named("T"), Named("S"), Is(1)]),
                Port::read("dt", F32).shape([Named("H"), Is(1), Is(1), Is(1)]),
                Port::read("a", F32).shape([Named("H"), Is(1), Is(1), Is(1)]),
                Port::read("beta", F32).shape([Named("H"), Named("T"), Named("S"), Is(1)]),
                Port::read("state", F32).shape([Named("D"), Named("D"), Named("H"), Any]),
                Port::read("rows", INDICES).shape([Named("S"), Is(1), Is(1), Is(1)]).optional(),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]).optional(),
                Port::write("out", F32),
                Port::update("state_out", F32)
                    .shape([Named("D"), Named("D"), Named("H"), AtLeast("S")])
                    .optional(),
            ],
        )
    },
    reference,
};

/// A head's log decay from its raw projection.
pub(crate) fn decay(alpha: f64, dt: f64, a: f64) -> f64 {
    a * unary::softplus(alpha + dt)
}

/// A row at length one.
pub(crate) fn unit(mut row: Vec<f64>, eps: f64, form: u32) -> Vec<f64> {
    let factor = l2_norm::factor(&row, eps, form);
    row.iter_mut().for_each(|v| *v *= factor);
    row
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (q, k, v) = (call.port("q")?, call.port("k")?, call.port("v")?);
    let (alpha, dt, a, raw) = (call.port("alpha")?, call.port("dt")?, call.port("a")?, call.port("beta")?);
    let map = call.constants.u32("heads")?;
    let (eps, form) = (f64::from(call.constants.f32("eps")?), call.constants.u32("form")?);
    let [_, heads, _, seqs] = v.shape();
    let ratio = (seqs / q.shape()[3].max(1)).max(1);
    let advance = |matrix: &mut [f64], h: u64, t: u64, s: u64| {
        let at = [delta::key_head(map, h, heads, q.shape()[1]), t, s / ratio];
        let (query, key) = (unit(q.row(at), eps, form), unit(k.row(at), eps, form));
        let at_head = [h, 0, 0, 0];
        let gate = decay(alpha.get([h, t, s, 0]), dt.get(at_head), a.get(at_head));
        let beta = unary::sigmoid(raw.get([h, t, s, 0]));
        delta::step(matrix, &query, &key, &v.row([h, t, s]), &[gate], beta)
    };
    delta::recur(call, advance)
}
