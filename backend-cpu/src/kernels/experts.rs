//! Weights times activations, with a matrix chosen for each column: rounded to 8 bits (fast) or in f32 (exact).
//!
//! Few columns are multiplied one by one. Many are sorted by their matrix first, so that each matrix is unpacked once.

use super::Tuned;
use super::matmul::{WHOLE, failed};
use crate::job::{Args, Job, Scratch, Worker};
use crate::simd::{
    ACTIVATION_VALUES, ActivationBlock, Columns, MatmulError, Output, ROW_TILE, Simd, Weights, matmul_exact,
    matmul_fast, quantise,
};
use crate::view::View;
use std::marker::PhantomData;
use weft_core::contract::{BLOCKS, F32, Port};
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "mul_mat_id",
        variant: "q8",
        exact: false,
        port: fast_port,
        symbols: WHOLE,
        build: build::<ActivationBlock>,
    },
    Tuned {
        stem: "mul_mat_id",
        variant: "f32",
        exact: true,
        port: exact_port,
        symbols: WHOLE,
        build: build::<f32>,
    },
];

fn fast_port(port: Port) -> Port {
    let port = exact_port(port);
    if port.name == "weight" { Port { dtypes: BLOCKS, ..port } } else { port }
}

fn exact_port(port: Port) -> Port {
    match port.name {
        "weight" => port.packed(),
        "x" | "out" => Port { dtypes: F32, ..port.packed_rows() }.aligned(4),
        _ => port,
    }
}

/// Up to so many columns each worker prepares all that it reads: cheaper than a barrier.
const FEW: usize = 16;

/// Columns as a mode of arithmetic takes them.
trait Value: Copy + Send + Sync + 'static {
    /// Values of a column that one of these holds.
    const HOLDS: usize;
    fn prepare(simd: Simd, column: &[f32], to: &mut [Self]);
    fn multiply(
        simd: Simd,
        weights: &Weights<'_>,
        columns: &[Self],
        out: Output<'_>,
    ) -> Result<(), MatmulError>;
}

impl Value for ActivationBlock {
    const HOLDS: usize = ACTIVATION_VALUES;

    fn prepare(simd: Simd, column: &[f32], to: &mut [Self]) {
        quantise(simd, column, to);
    }

    fn multiply(
        simd: Simd,
        weights: &Weights<'_>,
        columns: &[Self],
        out: Output<'_>,
    ) -> Result<(), MatmulError> {
        matmul_fast(simd, weights, columns, out)
    }
}

impl Value for f32 {
    const HOLDS: usize = 1;

    fn prepare(_: Simd, column: &[f32], to: &mut [Self]) {
        to.copy_from_slice(column);
    }

    fn multiply(
        simd: Simd,
        weights: &Weights<'_>,
        values: &[Self],
        out: Output<'_>,
    ) -> Result<(), MatmulError> {
        matmul_exact(simd, weights, Columns { values, stride: weights.k() }, out)
    }
}

struct Chosen<V> {
    simd: Simd,
    weight: View,
    x: View,
    ids: View,
    out: View,
    /// Columns of results.
    columns: usize,
    /// Prepared columns: of each worker those of x, or all in the order of their matrices.
    prepared: Scratch,
    /// For many columns: how many matrices are used; of each its number and where its columns end; the columns.
    sorted: Scratch,
    /// Results of a worker's rows, before they go to their columns.
    rows: Scratch,
    value: PhantomData<V>,
}

fn build<V: Value>(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let (weight, x, ids, out) = (args.view("weight")?, args.view("x")?, args.view("ids")?, args.view("out")?);
    let [width, slots, tokens, _] = x.shape();
    let columns = out.shape()[1] * out.shape()[2];
    let values = width / V::HOLDS * size_of::<V>();
    let few = columns <= FEW;
    let held = if few { slots * tokens * args.workers } else { columns };
    let (used, each) = if few { (0, 0) } else { (columns.min(weight.shape()[2]), columns) };
    Ok(Box::new(Chosen::<V> {
        simd: args.simd,
        weight,
        x,
        ids,
        out,
        columns,
        prepared: args.scratch.take(held * values),
        sorted: args.scratch.take((1 + 2 * used + each) * size_of::<usize>()),
        rows: args.scratch.take(args.workers * each * ROW_TILE * size_of::<f32>()),
        value: PhantomData,
    }))
}

/// Columns by matrix.
struct Sorted<'a> {
    /// The matrices in use, each with the end of its columns in `list`.
    groups: &'a [[usize; 2]],
    /// Columns, those of one matrix together.
    list: &'a [usize],
}

impl<V: Value> Chosen<V> {
    /// A matrix.
    fn weights(&self, expert: usize) -> Result<Weights<'_>, KernelError> {
        let bytes = self.weight.layout.bytes() as usize / self.weight.shape()[2].max(1);
        // SAFETY: weights are packed, checked against their storage, and never written while a program runs.
        let slice = unsafe { std::slice::from_raw_parts(self.weight.at([0, 0, expert, 0]), bytes) };
        Weights::new(self.weight.dtype(), self.weight.shape()[0], slice).map_err(failed)
    }

    fn place(&self, column: usize) -> [usize; 2] {
        let chosen = self.ids.shape()[0];
        [column % chosen, column / chosen]
    }

    /// The matrix of a column.
    fn expert(&self, column: usize) -> Result<usize, KernelError> {
        let [slot, token] = self.place(column);
        // SAFETY: the index lies inside, and nobody writes it in this phase.
        unsafe { self.ids.index_below([slot, token, 0, 0], self.weight.layout.shape[2]) }
    }

    /// Which of the columns of x a column multiplies, and where that lies.
    fn source(&self, column: usize) -> (usize, &[f32]) {
        let ([slot, token], slots) = (self.place(column), self.x.shape()[1]);
        let slot = slot % slots;
        // SAFETY: packed f32 rows that nobody writes in this phase.
        (slot + token * slots, unsafe { self.x.row([slot, token, 0]) })
    }

    /// Where a column of results begins.
    fn result(&self, column: usize) -> *mut f32 {
        let [slot, token] = self.place(column);
        self.out.at([0, slot, token, 0]).cast()
    }

    /// Values of a prepared column.
    fn length(&self) -> usize {
        self.x.shape()[0] / V::HOLDS
    }

    /// The place of prepared columns from one on.
    fn prepared(&self, first: usize) -> *mut V {
        self.prepared.start().cast::<V>().wrapping_add(first * self.length())
    }

    fn prepare(&self, column: &[f32], at: usize) {
        // SAFETY: the scratch holds the column, and only its owner touches it in this stage.
        let to = unsafe { std::slice::from_raw_parts_mut(self.prepared(at), self.length()) };
        V::prepare(self.simd, column, to);
    }

    /// A tile of rows by its number.
    fn tile(&self, number: usize) -> std::ops::Range<usize> {
        number * ROW_TILE..(number * ROW_TILE + ROW_TILE).min(self.out.shape()[0])
    }

    fn tiles(&self) -> usize {
        self.out.shape()[0].div_ceil(ROW_TILE)
    }

    /// Each column by itself.
    fn one_by_one(&self, worker: &Worker) -> Result<(), KernelError> {
        let [_, slots, tokens, _] = self.x.shape();
        let own = worker.index * slots * tokens;
        let mut ready = [false; FEW];
        for unit in worker.share(self.tiles() * self.columns, 1) {
            let (rows, column) = (self.tile(unit / self.columns), unit % self.columns);
            let weights = self.weights(self.expert(column)?)?;
            let (at, values) = self.source(column);
            // There are no more columns of x than of results.
            if !std::mem::replace(&mut ready[at], true) {
                self.prepare(values, own + at);
            }
            // SAFETY: prepared by this worker, and not written any more.
            let columns = unsafe { std::slice::from_raw_parts(self.prepared(own + at), self.length()) };
            // SAFETY: tiles of columns are shared out among workers without overlap.
            let out = unsafe { Output::from_raw(self.result(column), 0, 1, rows) };
            V::multiply(self.simd, &weights, columns, out).map_err(failed)?;
        }
        Ok(())
    }

    /// The parts of the scratch memory for sorted columns.
    fn parts(&self) -> (*mut usize, *mut [usize; 2], *mut usize) {
        let start = self.sorted.start().cast::<usize>();
        let used = self.columns.min(self.weight.shape()[2]);
        (start, start.wrapping_add(1).cast(), start.wrapping_add(1 + 2 * used))
    }

    /// Sorts columns by matrix. A refused index leaves no matrix in use.
    fn sort(&self) -> Result<(), KernelError> {
        let (count, groups, list) = self.parts();
        // SAFETY: only the first worker is here, and the scratch holds all of it: groups are no more than columns or
        // matrices.
        let list = unsafe {
            count.write(0);
            for column in 0..self.columns {
                list.add(column).write(column);
            }
            std::slice::from_raw_parts_mut(list, self.columns)
        };
        let experts = (0..self.columns).map(|c| self.expert(c)).collect::<Result<Vec<_>, _>>()?;
        list.sort_unstable_by_key(|column| (experts[*column], *column));
        let mut used = 0;
        for (at, column) in list.iter().enumerate() {
            if at == 0 || experts[list[at - 1]] != experts[*column] {
                used += 1;
            }
            // SAFETY: as above.
            unsafe { groups.add(used - 1).write([experts[*column], at + 1]) };
        }
        // SAFETY: as above.
        unsafe { count.write(used) };
        Ok(())
    }

    fn sorted(&self) -> Sorted<'_> {
        let (count, groups, list) = self.parts();
        // SAFETY: the first worker wrote it in the first stage, and nobody writes it any more.
        unsafe {
            let groups = std::slice::from_raw_parts(groups, count.read());
            let columns = groups.last().map_or(0, |[_, end]| *end);
            Sorted { groups, list: std::slice::from_raw_parts(list, columns) }
        }
    }

    /// All columns of a matrix at once.
    fn by_matrix(&self, worker: &Worker) -> Result<(), KernelError> {
        let Sorted { groups, list } = self.sorted();
        let own = self.rows.start().cast::<f32>().wrapping_add(worker.index * self.columns * ROW_TILE);
        for unit in worker.share(self.tiles() * groups.len(), 1) {
            let (rows, group) = (self.tile(unit / groups.len()), unit % groups.len());
            let [expert, end] = groups[group];
            let first = group.checked_sub(1).map_or(0, |before| groups[before][1]);
            // SAFETY: prepared before the barrier, and not written any more.
            let columns =
                unsafe { std::slice::from_raw_parts(self.prepared(first), (end - first) * self.length()) };
            // SAFETY: the worker's own scratch holds a tile of all columns; row `rows.start` comes first.
            let out = unsafe {
                Output::from_raw(own.wrapping_sub(rows.start), ROW_TILE, end - first, rows.clone())
            };
            V::multiply(self.simd, &self.weights(expert)?, columns, out).map_err(failed)?;
            for (at, column) in list[first..end].iter().enumerate() {
                // SAFETY: written just now; tiles of columns are shared out among workers without overlap.
                unsafe {
                    let to = self.result(*column).add(rows.start);
                    to.copy_from_nonoverlapping(own.add(at * ROW_TILE), rows.len());
                }
            }
        }
        Ok(())
    }
}

impl<V: Value> Job for Chosen<V> {
    fn stages(&self) -> usize {
        if self.columns <= FEW { 1 } else { 3 }
    }

    fn run(&self, stage: usize, worker: &mut Worker) -> Result<(), KernelError> {
        match stage {
            0 if self.columns <= FEW => self.one_by_one(worker),
            0 if worker.index == 0 => self.sort(),
            0 => Ok(()),
            1 => {
                let list = self.sorted().list;
                for at in worker.share(list.len(), 1) {
                    self.prepare(self.source(list[at]).1, at);
                }
                Ok(())
            }
            _ => self.by_matrix(worker),
        }
    }
}
