//! Sums of rows. In f64, since a row may cancel to almost nothing.

use super::Tuned;
use crate::job::{Args, Job, Worker};
use crate::view::View;
use weft_core::contract::{F32, Port};
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] = &[Tuned {
    stem: "sum_rows",
    variant: "floats",
    exact: true,
    port: |port: Port| Port { dtypes: F32, ..port }.aligned(4),
    symbols: &[],
    build,
}];

/// Sums that a worker computes at once.
const BESIDE: usize = 64;

struct Sums {
    x: View,
    out: View,
}

fn build(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Sums { x: args.view("x")?, out: args.view("out")? }))
}

impl Job for Sums {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let [n0, n1, n2, n3] = self.x.shape();
        let parts = n1.div_ceil(BESIDE);
        // Rows that lie side by side are summed together, element by element; others one after the other.
        let beside = self.x.layout.strides[1] < self.x.layout.strides[0];
        for number in worker.share(parts * n2 * n3, 1) {
            let (first, i2, i3) = (number % parts * BESIDE, number / parts % n2, number / parts / n2);
            let mut sums = [0f64; BESIDE];
            let sums = &mut sums[..BESIDE.min(n1 - first)];
            // SAFETY: indices lie inside, elements are f32 by the contract, and nobody writes them now.
            let value = |i0: usize, i1: usize| f64::from(unsafe { self.x.f32([i0, first + i1, i2, i3]) });
            if beside {
                (0..n0).for_each(|i0| {
                    sums.iter_mut().enumerate().for_each(|(i1, sum)| *sum += value(i0, i1));
                });
            } else {
                sums.iter_mut().enumerate().for_each(|(i1, sum)| {
                    *sum = (0..n0).map(|i0| value(i0, i1)).sum();
                });
            }
            for (i1, sum) in sums.iter().enumerate() {
                let at = self.out.at([0, first + i1, i2, i3]).cast::<f32>();
                // SAFETY: as above; each worker has its own sums.
                unsafe { at.write_unaligned(*sum as f32) };
            }
        }
        Ok(())
    }
}
