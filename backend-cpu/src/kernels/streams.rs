//! Residual streams: what a layer reads of them, and what it adds.

use super::elementwise::PIECE;
use super::norms::rms_factor;
use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::functions::{Function, apply, multiply_by};
use crate::simd::{Simd, vector};
use crate::view::View;
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "combine_norm",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_combine,
    },
    Tuned {
        stem: "mix_streams",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_mix,
    },
];

struct Combine {
    simd: Simd,
    x: View,
    y: View,
    shares: View,
    weight: View,
    sum: View,
    out: View,
    gain: f32,
    eps: f32,
    factor: f32,
}

fn build_combine(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Combine {
        simd: args.simd,
        x: args.view("x")?,
        y: args.view("y")?,
        shares: args.view("shares")?,
        weight: args.view("weight")?,
        sum: args.view("sum")?,
        out: args.view("out")?,
        gain: args.constants().f32("gain")?,
        eps: args.constants().f32("eps")?,
        factor: args.constants().f32("factor")?,
    }))
}

impl Job for Combine {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let simd = self.simd;
        let width = self.x.shape()[0];
        for number in worker.share(self.x.layout.rows() as usize, 1) {
            let outer = self.x.outer(number);
            let row = worker.floats(width);
            // SAFETY: all operands hold this row; each worker has its own rows; operands are read before results, which
            // may lie on `x`, are written.
            unsafe {
                let mut share = [self.shares.f32([0, outer[0], outer[1], outer[2]])];
                apply(simd, Function::Sigmoid, &mut share);
                row.copy_from_slice(self.x.row(outer));
                vector::add_scaled(simd, self.gain * share[0], self.y.row(outer), row);
                self.sum.row_mut(outer).copy_from_slice(row);
                let factor = self.factor * rms_factor(simd, row, self.eps);
                vector::scale(simd, factor, row);
                vector::multiply(simd, self.weight.row([outer[0], 0, 0]), row);
                self.out.row_mut(outer).copy_from_slice(row);
            }
        }
        Ok(())
    }
}

struct Mix {
    simd: Simd,
    x: View,
    gate: View,
    out: View,
}

fn build_mix(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Mix {
        simd: args.simd,
        x: args.view("x")?,
        gate: args.view("gate")?,
        out: args.view("out")?,
    }))
}

impl Job for Mix {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let [width, tokens, ..] = self.out.shape();
        let pieces = width.div_ceil(PIECE);
        for number in worker.share(tokens * pieces, 1) {
            let token = number / pieces;
            let from = number % pieces * PIECE;
            let to = (from + PIECE).min(width);
            let (sums, opened) = worker.floats(2 * PIECE).split_at_mut(PIECE);
            let (sums, opened) = (&mut sums[..to - from], &mut opened[..to - from]);
            sums.fill(0.0);
            for stream in 0..self.x.shape()[1] {
                let outer = [stream, token, 0];
                // SAFETY: both hold this row, and nobody writes it.
                let (x, gate) = unsafe { (&self.x.row(outer)[from..to], &self.gate.row(outer)[from..to]) };
                opened.copy_from_slice(x);
                multiply_by(self.simd, Function::Sigmoid, gate, opened);
                vector::add(self.simd, opened, sums);
            }
            let target = self.out.at([from, token, 0, 0]);
            // SAFETY: the result holds this row; each worker has its own pieces.
            unsafe { std::ptr::copy_nonoverlapping(sums.as_ptr(), target.cast(), sums.len()) };
        }
        Ok(())
    }
}
