//! Norms of rows, with what usually stands around them.

use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::functions::{Function, multiply_by};
use crate::simd::{Simd, vector};
use crate::view::View;
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "rms_norm",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_rms,
    },
    Tuned { stem: "l2_norm", variant: "rows", exact: true, port: float_rows, symbols: &[], build: build_l2 },
    Tuned {
        stem: "add_rms_norm",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_add,
    },
    Tuned {
        stem: "gated_norm",
        variant: "rows",
        exact: true,
        port: float_rows,
        symbols: &[],
        build: build_gated,
    },
];

/// The factor that brings a row's mean square to one.
pub(crate) fn rms_factor(simd: Simd, row: &[f32], eps: f32) -> f32 {
    1.0 / (vector::sum_of_squares(simd, row) / row.len() as f32 + eps).sqrt()
}

/// The factor that brings a row's length to one, by form.
pub(crate) fn l2_factor(simd: Simd, row: &[f32], eps: f32, form: u32) -> f32 {
    let square = vector::sum_of_squares(simd, row);
    if form == 0 { 1.0 / square.sqrt().max(eps) } else { 1.0 / (square + eps).sqrt() }
}

/// The gate's function by discriminant.
pub(crate) fn gate(act: u32) -> Function {
    if act == 0 { Function::Silu } else { Function::Sigmoid }
}

/// Copies a row of `from` to the same row of `to`, unless they are one, and gives it for change.
///
/// # Safety
/// Both hold this row as packed f32, and nobody else touches it now.
pub(crate) unsafe fn moved<'a>(from: &View, to: &View, outer: [usize; 3]) -> &'a mut [f32] {
    let [i1, i2, i3] = outer;
    let (source, target) = (from.at([0, i1, i2, i3]), to.at([0, i1, i2, i3]));
    // SAFETY: by the caller's word; equal pointers may be copied onto themselves.
    unsafe {
        std::ptr::copy(source, target, from.layout.shape[0] as usize * 4);
        to.row_mut(outer)
    }
}

enum Kind {
    Rms { weight: Option<View>, eps: f32 },
    L2 { eps: f32, form: u32 },
    Gated { weight: View, gate: View, eps: f32, act: u32 },
}

struct Norm {
    simd: Simd,
    x: View,
    out: View,
    kind: Kind,
}

fn norm(args: &Args<'_>, kind: Kind) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Norm { simd: args.simd, x: args.view("x")?, out: args.view("out")?, kind }))
}

fn build_rms(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    norm(args, Kind::Rms { weight: args.maybe("weight"), eps: args.constants().f32("eps")? })
}

fn build_l2(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    norm(args, Kind::L2 { eps: args.constants().f32("eps")?, form: args.constants().u32("form")? })
}

fn build_gated(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let (weight, gate) = (args.view("weight")?, args.view("gate")?);
    let (eps, act) = (args.constants().f32("eps")?, args.constants().u32("act")?);
    norm(args, Kind::Gated { weight, gate, eps, act })
}

impl Job for Norm {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let simd = self.simd;
        let width = self.x.shape()[0];
        for number in worker.share(self.x.layout.rows() as usize, 1) {
            let outer = self.x.outer(number);
            // SAFETY: all operands hold this row; each worker has its own rows; where the result lies on an operand the
            // two are the same row, and `moved` leaves one borrow of it.
            unsafe {
                match self.kind {
                    Kind::Rms { weight, eps } => {
                        let row = moved(&self.x, &self.out, outer);
                        let factor = rms_factor(simd, row, eps);
                        vector::scale(simd, factor, row);
                        if let Some(weight) = weight {
                            vector::multiply(simd, weight.row([0; 3]), row);
                        }
                    }
                    Kind::L2 { eps, form } => {
                        let row = moved(&self.x, &self.out, outer);
                        let factor = l2_factor(simd, row, eps, form);
                        vector::scale(simd, factor, row);
                    }
                    Kind::Gated { weight, gate: gates, eps, act } => {
                        // The result may lie on the gates: they are read before it is written.
                        let kept = worker.floats(width);
                        kept.copy_from_slice(self.x.row(outer));
                        let factor = rms_factor(simd, kept, eps);
                        vector::scale(simd, factor, kept);
                        vector::multiply(simd, weight.row([0; 3]), kept);
                        multiply_by(simd, gate(act), gates.row(outer), kept);
                        self.out.row_mut(outer).copy_from_slice(kept);
                    }
                }
            }
        }
        Ok(())
    }
}

struct AddNorm {
    simd: Simd,
    a: View,
    b: View,
    weight: View,
    sum: View,
    out: View,
    eps: f32,
}

fn build_add(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(AddNorm {
        simd: args.simd,
        a: args.view("a")?,
        b: args.view("b")?,
        weight: args.view("weight")?,
        sum: args.view("sum")?,
        out: args.view("out")?,
        eps: args.constants().f32("eps")?,
    }))
}

impl Job for AddNorm {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let simd = self.simd;
        let width = self.a.shape()[0];
        for number in worker.share(self.a.layout.rows() as usize, 1) {
            let outer = self.a.outer(number);
            let row = worker.floats(width);
            // SAFETY: all operands hold this row; each worker has its own rows; operands are read before results, which
            // may lie on them, are written.
            unsafe {
                row.copy_from_slice(self.a.row(outer));
                vector::add(simd, self.b.row(outer), row);
                self.sum.row_mut(outer).copy_from_slice(row);
                let factor = rms_factor(simd, row, self.eps);
                vector::scale(simd, factor, row);
                vector::multiply(simd, self.weight.row([0; 3]), row);
                self.out.row_mut(outer).copy_from_slice(row);
            }
        }
        Ok(())
    }
}
