//! Weights times activations: rounded to 8 bits (fast) or in f32 (exact).

use super::Tuned;
use crate::job::{Args, Job, Scratch, Worker};
use crate::simd::{
    ACTIVATION_VALUES, ActivationBlock, Columns, MatmulError, Output, ROW_TILE, Simd, Weights, matmul_exact,
    matmul_fast, quantise,
};
use crate::view::View;
use weft_core::contract::{Allowed, BLOCKS, Extent, F32, Port, Symbol};
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "mul_mat",
        variant: "q8",
        exact: false,
        port: fast_port,
        symbols: WHOLE,
        build: build_fast,
    },
    Tuned {
        stem: "mul_mat",
        variant: "f32",
        exact: true,
        port: exact_port,
        symbols: WHOLE,
        build: build_exact,
    },
];

/// Rows are taken 32 values at a time.
pub(super) const WHOLE: &[Symbol] =
    &[Symbol { name: "I", allowed: Allowed::MultipleOf(ACTIVATION_VALUES as u64, 1 << 40) }];

fn fast_port(port: Port) -> Port {
    let port = exact_port(port);
    if port.name == "weight" { Port { dtypes: BLOCKS, ..port } } else { port }
}

/// One packed matrix of weights; one plane of columns.
fn exact_port(port: Port) -> Port {
    let mut port = if port.name == "weight" {
        port.packed()
    } else {
        Port { dtypes: F32, ..port.packed_rows() }.aligned(4)
    };
    port.shape[2] = Extent::Is(1);
    port.shape[3] = Extent::Is(1);
    port
}

/// Operands that both modes share.
struct Product {
    simd: Simd,
    weight: View,
    x: View,
    out: View,
}

impl Product {
    fn new(args: &Args<'_>) -> Result<Self, KernelError> {
        let (weight, x, out) = (args.view("weight")?, args.view("x")?, args.view("out")?);
        Ok(Product { simd: args.simd, weight, x, out })
    }

    fn weights(&self) -> Result<Weights<'_>, KernelError> {
        let bytes = self.weight.layout.bytes() as usize;
        // SAFETY: weights are packed, checked against their storage, and never written while a program runs.
        let slice = unsafe { std::slice::from_raw_parts(self.weight.at([0; 4]), bytes) };
        Weights::new(self.weight.dtype(), self.weight.shape()[0], slice).map_err(failed)
    }

    /// This worker's rows of all columns.
    fn output(&self, worker: &Worker) -> Output<'_> {
        let rows = worker.share(self.out.shape()[0], ROW_TILE);
        let stride = (self.out.layout.strides[1] / 4) as usize;
        // SAFETY: the result's rows are shared out among workers without overlap.
        unsafe { Output::from_raw(self.out.at([0; 4]).cast(), stride, self.out.shape()[1], rows) }
    }
}

pub(super) fn failed(error: MatmulError) -> KernelError {
    KernelError::Worker { message: error.to_string() }
}

struct Exact(Product);

fn build_exact(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Exact(Product::new(args)?)))
}

impl Job for Exact {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let Product { simd, x, .. } = self.0;
        let stride = (x.layout.strides[1] / 4) as usize;
        let count = x.shape()[1].checked_sub(1).map_or(0, |last| last * stride + x.shape()[0]);
        // SAFETY: columns are packed f32 rows inside their storage that nobody writes in this phase.
        let values = unsafe { std::slice::from_raw_parts(x.at([0; 4]).cast::<f32>(), count) };
        matmul_exact(simd, &self.0.weights()?, Columns { values, stride }, self.0.output(worker))
            .map_err(failed)
    }
}

struct Fast {
    product: Product,
    rounded: Scratch,
    /// Whether this job rounds the columns; else an earlier one of the phase does.
    rounds: bool,
    /// Each worker rounds one column for itself: cheaper than a barrier.
    alone: bool,
}

fn build_fast(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let product = Product::new(args)?;
    let [width, columns, ..] = product.x.shape();
    let bytes = width / ACTIVATION_VALUES * columns * size_of::<ActivationBlock>();
    let alone = columns == 1;
    let copies = if alone { args.workers } else { 1 };
    let (rounded, rounds) = args.scratch.share(&product.x, "rounded", bytes * copies);
    Ok(Box::new(Fast { product, rounded, rounds, alone }))
}

impl Fast {
    /// All blocks that a worker reads.
    fn blocks(&self, worker: usize) -> (*mut ActivationBlock, usize) {
        let [width, columns, ..] = self.product.x.shape();
        let count = width / ACTIVATION_VALUES * columns;
        let start = self.rounded.start().cast::<ActivationBlock>();
        (start.wrapping_add(if self.alone { worker * count } else { 0 }), count)
    }

    fn round(&self, worker: &Worker) {
        let [width, columns, ..] = self.product.x.shape();
        let per_column = width / ACTIVATION_VALUES;
        let (start, _) = self.blocks(worker.index);
        let share = if self.alone { 0..1 } else { worker.share(columns, 1) };
        for column in share {
            // SAFETY: packed f32 columns that nobody writes in this phase.
            let values = unsafe { self.product.x.row([column, 0, 0]) };
            // SAFETY: the scratch holds all columns, and each worker writes its own.
            let blocks =
                unsafe { std::slice::from_raw_parts_mut(start.add(column * per_column), per_column) };
            quantise(self.product.simd, values, blocks);
        }
    }
}

impl Job for Fast {
    fn stages(&self) -> usize {
        if self.alone { 1 } else { 2 }
    }

    fn run(&self, stage: usize, worker: &mut Worker) -> Result<(), KernelError> {
        if stage == 0 && self.rounds {
            self.round(worker);
        }
        if stage == 0 && !self.alone {
            return Ok(());
        }
        let (start, count) = self.blocks(worker.index);
        // SAFETY: rounded by this worker just now, or by all before the barrier; not written any more.
        let blocks = unsafe { std::slice::from_raw_parts(start, count) };
        let product = &self.product;
        matmul_fast(product.simd, &product.weights()?, blocks, product.output(worker)).map_err(failed)
    }
}
