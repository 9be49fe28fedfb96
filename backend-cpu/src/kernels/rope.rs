//! Rotary embedding of heads, with the norm before it where there is one.

use super::norms::{moved, rms_factor};
use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::{Simd, vector};
use crate::view::View;
use weft_core::kernels::KernelError;
use weft_core::kernels::rope::Angles;

pub(super) const TUNED: &[Tuned] = &[
    Tuned { stem: "rope", variant: "rows", exact: true, port: float_rows, symbols: &[], build },
    Tuned { stem: "norm_rope", variant: "rows", exact: true, port: float_rows, symbols: &[], build },
];

struct Rotate {
    simd: Simd,
    x: View,
    out: View,
    positions: View,
    divisors: Option<View>,
    norm: Option<(View, f32)>,
    angles: Angles,
}

fn build(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let norm = match args.maybe("weight") {
        Some(weight) => Some((weight, args.constants().f32("eps")?)),
        None => None,
    };
    Ok(Box::new(Rotate {
        simd: args.simd,
        x: args.view("x")?,
        out: args.view("out")?,
        positions: args.view("positions")?,
        divisors: args.maybe("divisors"),
        norm,
        angles: Angles::new(args.constants())?,
    }))
}

impl Rotate {
    /// Cosine and sine of each pair for one token.
    fn turns(&self, token: usize, into: &mut [f32]) {
        let tokens = self.x.shape()[2];
        let (cosines, sines) = into.split_at_mut(self.angles.dims / 2);
        for (i, (cos, sin)) in cosines.iter_mut().zip(sines).enumerate() {
            // SAFETY: the shape rule gave each token its positions.
            let (divisor, position) = unsafe {
                let divisors = self.divisors.filter(|d| i < d.shape()[0]);
                let divisor = divisors.map_or(1.0, |d| d.f32([i, 0, 0, 0]));
                (f64::from(divisor), self.positions.index([token + self.angles.axis(i) * tokens, 0, 0, 0]))
            };
            let theta = position as f64 * self.angles.frequency(i, divisor);
            *cos = (theta.cos() * self.angles.magnitude) as f32;
            *sin = (theta.sin() * self.angles.magnitude) as f32;
        }
    }
}

impl Job for Rotate {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let [_, heads, tokens, seqs] = self.x.shape();
        let pairs = self.angles.dims / 2;
        let share = worker.share(tokens * seqs * heads, 1);
        let turns = worker.floats(2 * pairs);
        let mut known = usize::MAX;
        for number in share {
            let (head, token) = (number % heads, number / heads);
            if token != known {
                self.turns(token % tokens, turns);
                known = token;
            }
            // SAFETY: both hold this row; each worker has its own rows.
            let row = unsafe { moved(&self.x, &self.out, [head, token % tokens, token / tokens]) };
            if let Some((weight, eps)) = self.norm {
                let factor = rms_factor(self.simd, row, eps);
                vector::scale(self.simd, factor, row);
                // SAFETY: the weight is one packed row of this length.
                vector::multiply(self.simd, unsafe { weight.row([0; 3]) }, row);
            }
            let (cosines, sines) = turns.split_at(pairs);
            for (i, (cos, sin)) in cosines.iter().zip(sines).enumerate() {
                let (a, b) = self.angles.pair(i);
                let (x, y) = (row[a], row[b]);
                row[a] = x * cos - y * sin;
                row[b] = x * sin + y * cos;
            }
        }
        Ok(())
    }
}
