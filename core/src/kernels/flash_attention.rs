//! Attention of one head's query over cached keys and values, without a score matrix in memory.
//!
//! `out[:, h, t, s] = softmax(scale·q[:, t, h, s]·k[:, c, g, s] + mask[c, t])·v[:, c, g, s]`, g = the head's key/value head.
//! With `segments`, row t of a segment at position p sees the cells 0..=p of its slot's cache, and `s` of k and v is the
//! slot; without, all cells. `sinks` holds one more score per head that only joins the denominator. Excluded cells get
//! weight 0; a row that sees none gives zeros.

use super::{Call, Kernel, KernelError, segments, softmax::softmax};
use crate::contract::{
    Allowed, Attribute, CACHE, Contract,
    Extent::{Any, AtLeast, Is, Named, Repeats},
    F32, FLOATS, I32, Port, Symbol,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        symbols: &[Symbol { name: "G", allowed: Allowed::DivisorOf("H") }],
        ones: &[("S", "segments")],
        attributes: &[Attribute::Float("scale")],
        edges: &[1, 2, 16],
        ..Contract::new(
            "flash_attention",
            &[
                Port::read("q", F32).shape([Named("D"), Named("T"), Named("H"), Named("S")]),
                Port::read("k", CACHE).shape([Named("D"), Named("C"), Named("G"), Named("P")]),
                Port::read("v", CACHE).shape([Named("E"), Named("C"), Named("G"), Named("P")]),
                Port::read("mask", FLOATS)
                    .shape([Named("C"), AtLeast("T"), Repeats("H"), Repeats("S")])
                    .optional(),
                Port::read("sinks", F32).shape([Named("H"), Is(1), Is(1), Is(1)]).optional(),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]).optional(),
                Port::write("out", F32).shape([Named("E"), Named("H"), Named("T"), Named("S")]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    attend(call, |_, _| ())
}

/// Attention whose rows `finish` may change before they are stored; it gets a row's outer indices.
pub(crate) fn attend(call: &Call<'_>, finish: impl Fn([u64; 3], &mut [f64])) -> Result<(), KernelError> {
    let (q, k, v, out) = (call.port("q")?, call.port("k")?, call.port("v")?, call.port("out")?);
    let (mask, sinks) = (call.maybe("mask"), call.maybe("sinks"));
    let scale = f64::from(call.constants.f32("scale")?);
    let [_, tokens, heads, seqs] = q.shape();
    let cells = k.shape()[1];
    let attend = |t: u64, h: u64, s: u64, cache: u64, visible: u64| {
        let group = h / (heads / k.shape()[2]);
        let query = q.row([t, h, s]);
        let mut scores: Vec<f64> = (0..visible)
            .map(|c| {
                let dot: f64 = k.row([c, group, cache]).iter().zip(&query).map(|(a, b)| a * b).sum();
                let bias = mask.map_or(0.0, |m| m.get([c, t, h % m.shape()[2], s % m.shape()[3]]));
                // Selection, not a large negative number: what the cell holds cannot matter.
                if bias == f64::NEG_INFINITY { bias } else { dot * scale + bias }
            })
            .collect();
        softmax(&mut scores, sinks.map(|sinks| sinks.get([h, 0, 0, 0])));
        let mut sum = vec![0.0; out.shape()[0] as usize];
        for (c, weight) in scores.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            let value = v.row([c as u64, group, cache]);
            sum.iter_mut().zip(value).for_each(|(s, v)| *s += weight * v);
        }
        finish([h, t, s], &mut sum);
        out.put_row([h, t, s], &sum);
    };
    let Some(table) = call.maybe("segments") else {
        (0..seqs).for_each(|s| (0..heads).for_each(|h| (0..tokens).for_each(|t| attend(t, h, s, s, cells))));
        return Ok(());
    };
    for segment in segments(&table, tokens, k.shape()[3])? {
        for i in 0..u64::from(segment.count) {
            let visible = (u64::from(segment.position) + i + 1).min(cells);
            let row = u64::from(segment.row) + i;
            (0..heads).for_each(|h| attend(row, h, 0, u64::from(segment.slot), visible));
        }
    }
    Ok(())
}
