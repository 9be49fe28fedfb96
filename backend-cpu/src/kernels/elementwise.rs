//! Functions of one or two values on rows of f32.

use super::norms::{gate, moved};
use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::functions::{Function, apply, multiply_by};
use crate::simd::{Simd, vector};
use crate::view::View;
use weft_core::graph::{BinaryKind, UnaryKind};
use weft_core::kernels::{KernelError, binary, unary};

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "binary",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_binary,
    },
    Tuned { stem: "scale", variant: "rows", exact: true, port: float_rows, symbols: &[], build: build_scale },
    Tuned { stem: "unary", variant: "rows", exact: true, port: float_rows, symbols: &[], build: build_unary },
    Tuned {
        stem: "swiglu",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_swiglu,
    },
];

/// Rows are shared out in pieces of this many values, so that one long row still occupies all workers.
pub(super) const PIECE: usize = 512;

struct Binary {
    simd: Simd,
    kind: BinaryKind,
    a: View,
    b: View,
    out: View,
}

fn build_binary(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let kind = binary::KINDS.get(args.constants().u32("kind")? as usize);
    let kind = *kind.ok_or(KernelError::Constant { name: "kind" })?;
    Ok(Box::new(Binary {
        simd: args.simd,
        kind,
        a: args.view("a")?,
        b: args.view("b")?,
        out: args.view("out")?,
    }))
}

impl Job for Binary {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        for number in worker.share(self.out.layout.rows() as usize, 1) {
            let outer = self.out.outer(number);
            // SAFETY: both hold this row, the second a divisor of its length; each worker has its own rows.
            unsafe {
                let row = moved(&self.a, &self.out, outer);
                let other = self.b.row(self.b.repeated(outer));
                if let [one] = other {
                    row.iter_mut().for_each(|v| *v = single(self.kind, *v, *one));
                } else {
                    row.chunks_mut(other.len()).for_each(|part| combine(self.simd, self.kind, other, part));
                }
            }
        }
        Ok(())
    }
}

fn single(kind: BinaryKind, a: f32, b: f32) -> f32 {
    match kind {
        BinaryKind::Add => a + b,
        BinaryKind::Sub => a - b,
        BinaryKind::Mul => a * b,
        BinaryKind::Div => a / b,
    }
}

fn combine(simd: Simd, kind: BinaryKind, from: &[f32], to: &mut [f32]) {
    match kind {
        BinaryKind::Add => vector::add(simd, from, to),
        BinaryKind::Mul => vector::multiply(simd, from, to),
        BinaryKind::Sub => vector::add_scaled(simd, -1.0, from, to),
        BinaryKind::Div => to.iter_mut().zip(from).for_each(|(a, b)| *a /= b),
    }
}

enum Map {
    Scale { scale: f32, bias: f32 },
    Unary(UnaryKind),
}

struct Mapped {
    simd: Simd,
    map: Map,
    x: View,
    out: View,
}

fn build_scale(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let map = Map::Scale { scale: args.constants().f32("scale")?, bias: args.constants().f32("bias")? };
    Ok(Box::new(Mapped { simd: args.simd, map, x: args.view("x")?, out: args.view("out")? }))
}

fn build_unary(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let kind = unary::KINDS.get(args.constants().u32("kind")? as usize);
    let map = Map::Unary(*kind.ok_or(KernelError::Constant { name: "kind" })?);
    Ok(Box::new(Mapped { simd: args.simd, map, x: args.view("x")?, out: args.view("out")? }))
}

impl Job for Mapped {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        for number in worker.share(self.out.layout.rows() as usize, 1) {
            // SAFETY: both hold this row; each worker has its own rows.
            let row = unsafe { moved(&self.x, &self.out, self.out.outer(number)) };
            match self.map {
                // Scaling by zero clears a state, whatever it held.
                Map::Scale { scale: 0.0, bias } => row.fill(bias),
                Map::Scale { scale, bias } => row.iter_mut().for_each(|v| *v = *v * scale + bias),
                Map::Unary(UnaryKind::Silu) => apply(self.simd, Function::Silu, row),
                Map::Unary(UnaryKind::Sigmoid) => apply(self.simd, Function::Sigmoid, row),
                Map::Unary(UnaryKind::Softplus) => apply(self.simd, Function::Softplus, row),
                Map::Unary(UnaryKind::Exp) => apply(self.simd, Function::Exp, row),
                Map::Unary(kind) => {
                    row.iter_mut().for_each(|v| *v = unary::value(kind, f64::from(*v)) as f32);
                }
            }
        }
        Ok(())
    }
}

struct Gated {
    simd: Simd,
    act: u32,
    gate: View,
    up: View,
    out: View,
}

fn build_swiglu(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let act = args.constants().u32("kind")?;
    Ok(Box::new(Gated {
        simd: args.simd,
        act,
        gate: args.view("gate")?,
        up: args.view("up")?,
        out: args.view("out")?,
    }))
}

impl Job for Gated {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let width = self.out.shape()[0];
        let pieces = width.div_ceil(PIECE);
        for number in worker.share(self.out.layout.rows() as usize * pieces, 1) {
            let outer = self.out.outer(number / pieces);
            let from = number % pieces * PIECE;
            let to = (from + PIECE).min(width);
            let kept = worker.floats(PIECE);
            // SAFETY: all hold this row; each worker has its own pieces; the result, which may lie on either operand,
            // is written last.
            unsafe {
                let kept = &mut kept[..to - from];
                kept.copy_from_slice(&self.up.row(outer)[from..to]);
                multiply_by(self.simd, gate(self.act), &self.gate.row(outer)[from..to], kept);
                let [i1, i2, i3] = outer;
                let target = self.out.at([from, i1, i2, i3]);
                std::ptr::copy_nonoverlapping(kept.as_ptr(), target.cast(), kept.len());
            }
        }
        Ok(())
    }
}
