//! The gated delta rule, token by token.
//!
//! Per value head with state M `[key channel, value channel]`: `M ← M·exp(gate)`; `δ = (v − Mᵀk)·beta`; `M ← M + k⊗δ`;
//! `out = Mᵀq / sqrt(D)`. The gate is a log decay, one per head or one per key channel. Without `segments`, `out` holds the
//! outputs of all tokens and then K states per sequence, newest first. With it, states live in a pool `[D, D, heads,
//! slots·K]`; plane p of a slot is the state p tokens before the segment's last, and planes beyond its tokens keep what
//! they hold.

use super::{Call, Kernel, KernelError, Operand, segments};
use crate::contract::{
    Allowed, Attribute, Contract,
    Extent::{Any, Is, Named, Repeats},
    F32, I32, Port, Symbol, Tolerance,
};

/// A state has rows; key heads divide value heads, and sequences of keys those of values.
pub(super) const HEADS: &[Symbol] = &[
    Symbol { name: "D", allowed: Allowed::Between(1, 1 << 16) },
    Symbol { name: "G", allowed: Allowed::DivisorOf("H") },
    Symbol { name: "R", allowed: Allowed::DivisorOf("S") },
];

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: HEADS,
        ones: &[("S", "segments")],
        needs: &[("segments", "state_out"), ("state_out", "segments")],
        attributes: &[Attribute::Integer("snapshots", 1, 64), Attribute::Choice("heads", &[0, 1])],
        may_alias: &[("state", "state_out")],
        edges: &[1, 2, 64],
        tolerance: Tolerance { nmse_row: 1e-9, max_abs: 1e-4 },
        ..Contract::new(
            "gated_delta_net",
            &[
                Port::read("q", F32).shape([Named("D"), Named("G"), Named("T"), Named("R")]),
                Port::read("k", F32).shape([Named("D"), Named("G"), Named("T"), Named("R")]),
                Port::read("v", F32).shape([Named("D"), Named("H"), Named("T"), Named("S")]),
                Port::read("gate", F32).shape([Repeats("D"), Named("H"), Named("T"), Named("S")]),
                Port::read("beta", F32).shape([Is(1), Named("H"), Named("T"), Named("S")]),
                Port::read("state", F32).shape([Named("D"), Named("D"), Named("H"), Named("P")]),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]).optional(),
                Port::write("out", F32),
                Port::update("state_out", F32)
                    .shape([Named("D"), Named("D"), Named("H"), Named("P")])
                    .optional(),
            ],
        )
    },
    reference,
};

/// The key head of a value head. `map` 0 is tiled, 1 grouped.
pub(crate) fn key_head(map: u32, head: u64, heads: u64, key_heads: u64) -> u64 {
    if map == 0 { head % key_heads } else { head / (heads / key_heads) }
}

/// One token of one head. `state` is row-major by value channel; `gate` has one value or one per key channel.
pub(crate) fn step(state: &mut [f64], q: &[f64], k: &[f64], v: &[f64], gate: &[f64], beta: f64) -> Vec<f64> {
    let dim = q.len();
    let scale = 1.0 / (dim as f64).sqrt();
    let decay: Vec<f64> = (0..dim).map(|i| gate[i % gate.len()].exp()).collect();
    let mut out = vec![0.0; dim];
    for j in 0..dim {
        let row = &mut state[j * dim..(j + 1) * dim];
        row.iter_mut().zip(&decay).for_each(|(m, d)| *m *= d);
        let held: f64 = row.iter().zip(k).map(|(m, k)| m * k).sum();
        let delta = (v[j] - held) * beta;
        row.iter_mut().zip(k).for_each(|(m, k)| *m += delta * k);
        out[j] = row.iter().zip(q).map(|(m, q)| m * q).sum::<f64>() * scale;
    }
    out
}

/// The state of one head as a row-major matrix.
pub(crate) fn load(state: &Operand<'_>, head: u64, plane: u64) -> Vec<f64> {
    (0..state.shape()[1]).flat_map(|j| state.row([j, head, plane])).collect()
}

/// Stores a row-major matrix as the state of one head.
pub(crate) fn store(state: &Operand<'_>, head: u64, plane: u64, matrix: &[f64]) {
    let dim = state.shape()[0] as usize;
    matrix.chunks_exact(dim).enumerate().for_each(|(j, row)| state.put_row([j as u64, head, plane], row));
}

/// Runs `advance(state, head, token, sequence)` over all heads and tokens and puts outputs and states where they belong.
///
/// With `segments` states live in the pool `state_out`. Without, outputs and then states go to one flat `out`; sequence s
/// starts from plane `rows[s]` of `state` if there are `rows`, and its newest state also goes to `state_out` if it is bound.
pub(crate) fn recur(
    call: &Call<'_>,
    advance: impl Fn(&mut [f64], u64, u64, u64) -> Vec<f64>,
) -> Result<(), KernelError> {
    let (state, out, kept) = (call.port("state")?, call.port("out")?, call.maybe("state_out"));
    let snapshots = u64::from(call.constants.u32("snapshots")?);
    let [dim, heads, tokens, seqs] = call.port("v")?.shape();
    if let Some(table) = call.maybe("segments") {
        let pool = call.port("state_out")?;
        let planes = pool.shape()[3].min(state.shape()[3]);
        for segment in segments(&table, tokens, planes / snapshots)? {
            let (base, count) = (u64::from(segment.slot) * snapshots, u64::from(segment.count));
            let from = base + u64::from(segment.plane).min(snapshots - 1);
            for h in 0..heads {
                let mut matrix =
                    if segment.fresh { vec![0.0; (dim * dim) as usize] } else { load(&state, h, from) };
                for i in 0..count {
                    let row = u64::from(segment.row) + i;
                    out.put_row([h, row, 0], &advance(&mut matrix, h, row, 0));
                    if count - 1 - i < snapshots {
                        store(&pool, h, base + count - 1 - i, &matrix);
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
        (0..seqs * heads).map(|i| load(&state, i % heads, from[(i / heads) as usize])).collect();
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
            store(&kept, h, s, matrix);
        }
    }
    Ok(())
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (q, k, v) = (call.port("q")?, call.port("k")?, call.port("v")?);
    let (gate, beta) = (call.port("gate")?, call.port("beta")?);
    let map = call.constants.u32("heads")?;
    let [_, heads, _, seqs] = v.shape();
    let seq_ratio = seqs / q.shape()[3].max(1);
    let advance = |matrix: &mut [f64], h: u64, t: u64, s: u64| {
        let at = [key_head(map, h, heads, q.shape()[1]), t, s / seq_ratio.max(1)];
        let beta = beta.get([0, h, t, s]);
        step(matrix, &q.row(at), &k.row(at), &v.row([h, t, s]), &gate.row([h, t, s]), beta)
    };
    recur(call, advance)
}
