//! The choice of experts, and the sum of what they give.

use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::functions::{Function, apply};
use crate::simd::{Simd, vector};
use crate::view::View;
use std::cmp::Ordering;
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "router",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_router,
    },
    Tuned {
        stem: "expert_sum",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_sum,
    },
];

struct Router {
    simd: Simd,
    scale: f32,
    least: f32,
    logits: View,
    ids: View,
    weights: View,
}

fn build_router(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Router {
        simd: args.simd,
        scale: args.constants().f32("scale")?,
        least: args.constants().f32("least")?,
        logits: args.view("logits")?,
        ids: args.view("ids")?,
        weights: args.view("weights")?,
    }))
}

impl Job for Router {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        for token in worker.share(self.ids.shape()[1], 1) {
            // SAFETY: both hold this row; each worker writes its own.
            let (logits, weights) =
                unsafe { (self.logits.row([token, 0, 0]), self.weights.row_mut([token, 0, 0])) };
            let shares = worker.floats(logits.len());
            shares.iter_mut().zip(logits).for_each(|(share, logit)| *share = logit * self.scale);
            let mut last = None;
            for (slot, weight) in weights.iter_mut().enumerate() {
                let Some(expert) = next(shares, last) else { break };
                // SAFETY: as above.
                unsafe { self.ids.at([slot, token, 0, 0]).cast::<i32>().write_unaligned(expert as i32) };
                *weight = shares[expert];
                last = Some(expert);
            }
            let larger = |most: f32, v: f32| if v.is_nan() || v > most { v } else { most };
            let most = shares.iter().copied().fold(f32::NEG_INFINITY, larger);
            if most == f32::NEG_INFINITY {
                weights.fill(0.0 / self.least.max(0.0));
                continue;
            }
            for row in [&mut *shares, &mut *weights] {
                row.iter_mut().for_each(|v| *v -= most);
                apply(self.simd, Function::Exp, row);
            }
            let all: f32 = shares.iter().sum();
            weights.iter_mut().for_each(|v| *v /= all);
            let sum = weights.iter().sum::<f32>().max(self.least);
            weights.iter_mut().for_each(|v| *v /= sum);
        }
        Ok(())
    }
}

/// The expert behind another in descending order, ties to the lower index; NaN counts as the smallest.
fn next(shares: &[f32], last: Option<usize>) -> Option<usize> {
    let key = |expert: usize| if shares[expert].is_nan() { f32::NEG_INFINITY } else { shares[expert] };
    let before = |a: usize, b: usize| match key(a).total_cmp(&key(b)) {
        Ordering::Greater => true,
        Ordering::Equal => a < b,
        Ordering::Less => false,
    };
    let left = (0..shares.len()).filter(|expert| last.is_none_or(|last| before(last, *expert)));
    left.reduce(|best, expert| if before(expert, best) { expert } else { best })
}

struct Sum {
    simd: Simd,
    x: View,
    weights: View,
    shared: Option<(View, View)>,
    out: View,
}

fn build_sum(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Sum {
        simd: args.simd,
        x: args.view("x")?,
        weights: args.view("weights")?,
        shared: args.maybe("extra").zip(args.maybe("gate")),
        out: args.view("out")?,
    }))
}

impl Job for Sum {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        for token in worker.share(self.out.shape()[1], 1) {
            // SAFETY: all hold this token's rows; each worker writes its own.
            let (out, weights) =
                unsafe { (self.out.row_mut([token, 0, 0]), self.weights.row([token, 0, 0])) };
            out.fill(0.0);
            for (slot, weight) in weights.iter().enumerate() {
                // SAFETY: as above.
                vector::add_scaled(self.simd, *weight, unsafe { self.x.row([slot, token, 0]) }, out);
            }
            if let Some((shared, gate)) = &self.shared {
                // SAFETY: as above.
                let (shared, gate) = unsafe { (shared.row([token, 0, 0]), gate.f32([0, token, 0, 0])) };
                let mut opened = [gate];
                apply(self.simd, Function::Sigmoid, &mut opened);
                vector::add_scaled(self.simd, opened[0], shared, out);
            }
        }
        Ok(())
    }
}
