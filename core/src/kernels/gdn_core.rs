//! A gated delta net with everything that only feeds it: the norms of q and k, the decay and the write strength.
//!
//! `q, k ← l2_norm`; `gate = a·softplus(alpha + dt)`; `beta ← sigmoid(beta)`; then as `gated_delta_net`. With `rows`, the
//! state of sequence s is read from the pool at `rows[s]`; with `state_out` and no `segments`, the newest state of each
//! sequence is stored there too. q, k and v may be slices of one convolution row.

use super::{Call, Kernel, KernelError, gated_delta_net as delta, l2_norm, segments, unary};
use crate::contract::{
    Attribute, Contract,
    Extent::{Any, Is, Named},
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
                Port::update("state_out", F32).shape([Named("D"), Named("D"), Named("H"), Any]).optional(),
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
    let (state, out, kept) = (call.port("state")?, call.port("out")?, call.maybe("state_out"));
    let (map, snapshots) = (call.constants.u32("heads")?, u64::from(call.constants.u32("snapshots")?));
    let (eps, form) = (f64::from(call.constants.f32("eps")?), call.constants.u32("form")?);
    let [dim, heads, tokens, seqs] = v.shape();
    let ratio = (seqs / q.shape()[3].max(1)).max(1);
    let advance = |matrix: &mut [f64], h: u64, t: u64, s: u64| {
        let at = [delta::key_head(map, h, heads, q.shape()[1]), t, s / ratio];
        let (query, key) = (unit(q.row(at), eps, form), unit(k.row(at), eps, form));
        let at_head = [h, 0, 0, 0];
        let gate = decay(alpha.get([h, t, s, 0]), dt.get(at_head), a.get(at_head));
        let beta = unary::sigmoid(raw.get([h, t, s, 0]));
        delta::step(matrix, &query, &key, &v.row([h, t, s]), &[gate], beta)
    };
    if let Some(table) = call.maybe("segments") {
        let pool = call.port("state_out")?;
        for segment in segments(&table, tokens, pool.shape()[3] / snapshots)? {
            let (base, count) = (u64::from(segment.slot) * snapshots, u64::from(segment.count));
            let from = base + u64::from(segment.plane).min(snapshots - 1);
            for h in 0..heads {
                let mut matrix = if segment.fresh {
                    vec![0.0; (dim * dim) as usize]
                } else {
                    delta::load(&state, h, from)
                };
                for i in 0..count {
                    let row = u64::from(segment.row) + i;
                    out.put_row([h, row, 0], &advance(&mut matrix, h, row, 0));
                    if count - 1 - i < snapshots {
                        delta::store(&pool, h, base + count - 1 - i, &matrix);
                    }
                }
            }
        }
        return Ok(());
    }
    let width = dim * heads;
    let put = |element: u64, value: f64| out.put([element % width, element / width, 0, 0], value);
    let rows = call.maybe("rows");
    let planes = state.shape()[3];
    let from = (0..seqs)
        .map(|s| rows.map_or(Ok(s), |rows| rows.index_below([s, 0, 0, 0], planes)))
        .collect::<Result<Vec<_>, _>>()?;
    // All states are read before any is stored: a permuting `rows` may read what another sequence overwrites.
    let mut states: Vec<_> =
        (0..seqs * heads).map(|i| delta::load(&state, i % heads, from[(i / heads) as usize])).collect();
    for (i, matrix) in (0..).zip(&mut states) {
        let (h, s) = (i % heads, i / heads);
        for t in 0..tokens {
            let row = advance(matrix, h, t, s);
            row.iter()
                .enumerate()
                .for_each(|(j, x)| put(((s * tokens + t) * heads + h) * dim + j as u64, *x));
            let plane = tokens - 1 - t;
            if plane < snapshots {
                let base = width * tokens * seqs + ((plane * seqs + s) * heads + h) * dim * dim;
                matrix.iter().enumerate().for_each(|(i, x)| put(base + i as u64, *x));
            }
        }
        if let Some(kept) = kept {
            delta::store(&kept, h, s, matrix);
        }
    }
    Ok(())
}
