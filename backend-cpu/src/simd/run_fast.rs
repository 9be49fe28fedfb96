//! Walking the weights in the fast mode.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::activations::{ACTIVATION_VALUES, ActivationBlock};
use super::job::{Job, TAIL, Tail, for_tiles};
use super::lanes::Lanes;
use super::level::Task;
use super::panel::{Format, PanelBlock, Store};
use super::rows::{Ahead, Rows};
use super::tile_fast::{Dots, Place, SLAB, SLAB_BLOCKS, Tile};

/// A product in the fast mode with weights of type `T`.
pub(crate) struct Fast<'a, T>(pub Job<'a, ActivationBlock>, pub PhantomData<T>);

impl<T: Format> Task for Fast<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        const { assert!(SLAB / T::VALUES * T::BYTES * L::WIDTH <= TAIL) }
        let job = self.0;
        match job.out.columns() {
            0 => return,
            1 => return few::<L, T, 1>(job),
            _ => {}
        }
        if T::EVERY_FEW {
            match job.out.columns() {
                2 => return few::<L, T, 2>(job),
                3 => return few::<L, T, 3>(job),
                4 => return few::<L, T, 4>(job),
                _ => {}
            }
        }
        let (k, stride) = (job.weights.k(), job.weights.row_bytes());
        let mut tail = Tail::new();
        let mut panel = [const { MaybeUninit::<PanelBlock<L>>::uninit() }; 2 * SLAB_BLOCKS];
        let panel: *mut PanelBlock<L> = panel.as_mut_ptr().cast();
        for row in job.out.rows().step_by(2 * L::WIDTH) {
            let rows = (job.out.rows().end - row).min(2 * L::WIDTH);
            let groups = rows.div_ceil(L::WIDTH);
            let tile = job.weights.bytes().as_ptr().wrapping_add(row * stride);
            let mut ahead = Ahead::of_rows(tile, 2 * L::WIDTH * stride);
            for slab in (0..k).step_by(SLAB) {
                let values = (k - slab).min(SLAB);
                for group in 0..groups {
                    let first = row + group * L::WIDTH;
                    // SAFETY: the rows exist, as `matmul_fast` checked; `values` is a whole number of file blocks.
                    unsafe {
                        let from =
                            job.weights.bytes().as_ptr().add(first * stride + slab / T::VALUES * T::BYTES);
                        let here = rows - group * L::WIDTH;
                        let (from, stride) =
                            tail.group(from, stride, here, (L::WIDTH, values / T::VALUES * T::BYTES));
                        let mut source = Rows::new(from, stride, ahead);
                        let mut to = Store::new(panel.add(group * SLAB_BLOCKS));
                        for _ in 0..values / T::VALUES {
                            T::unpack::<L>(&mut source, &mut to);
                            source.skip::<L>(T::BYTES);
                        }
                        ahead = source.ahead;
                    }
                }
                let widest = L::TILE_COLUMNS[usize::from(T::HALVES)];
                for_tiles(job.out.columns(), widest, |column, columns| {
                    let place = Place {
                        panel: panel.cast(),
                        blocks: values / 32,
                        activations: job.activations(column, slab / ACTIVATION_VALUES),
                        column: job.column,
                        out: job.out.row(row).wrapping_add(column * job.out.stride()),
                        out_stride: job.out.stride(),
                        rows,
                        fresh: slab == 0,
                    };
                    match (T::SIGNED, T::HALVES) {
                        (true, false) => fast_tile::<L, true, false>(groups, columns, place),
                        (true, true) => fast_tile::<L, true, true>(groups, columns, place),
                        (false, false) => fast_tile::<L, false, false>(groups, columns, place),
                        (false, true) => fast_tile::<L, false, true>(groups, columns, place),
                    }
                });
            }
        }
    }
}

#[inline(always)]
fn few<L: Lanes, T: Format, const COLUMNS: usize>(job: Job<'_, ActivationBlock>) {
    // Plain conditions, of which the compiler drops what a type never takes before it makes code of it.
    if T::SIGNED {
        if T::HALVES {
            L::enter(Few::<T, true, true, COLUMNS>(job, PhantomData));
        } else {
            L::enter(Few::<T, true, false, COLUMNS>(job, PhantomData));
        }
    } else if T::HALVES {
        L::enter(Few::<T, false, true, COLUMNS>(job, PhantomData));
    } else {
        L::enter(Few::<T, false, false, COLUMNS>(job, PhantomData));
    }
}

/// [`Fast`] for so few columns that weights need not be kept.
struct Few<'a, T, const SIGNED: bool, const HALVES: bool, const COLUMNS: usize>(
    Job<'a, ActivationBlock>,
    PhantomData<T>,
);

impl<T: Format, const SIGNED: bool, const HALVES: bool, const COLUMNS: usize> Task
    for Few<'_, T, SIGNED, HALVES, COLUMNS>
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let job = self.0;
        let (k, stride) = (job.weights.k(), job.weights.row_bytes());
        let mut tail = Tail::new();
        for row in job.out.rows().step_by(L::WIDTH) {
            let rows = (job.out.rows().end - row).min(L::WIDTH);
            let slab = if rows == L::WIDTH { k } else { SLAB };
            let from = job.weights.bytes().as_ptr().wrapping_add(row * stride);
            // SAFETY: the rows and columns exist, as `matmul_fast` checked; slabs are whole numbers of file blocks.
            unsafe {
                let mut dots = Dots::<L, SIGNED, HALVES, COLUMNS>::new(job.activations, job.column);
                for start in (0..k).step_by(slab) {
                    let blocks = (k - start).min(slab) / T::VALUES;
                    let from = from.add(start / T::VALUES * T::BYTES);
                    let (at, stride) = tail.group(from, stride, rows, (L::WIDTH, blocks * T::BYTES));
                    let mut source = Rows::new(at, stride, Ahead::of_rows(at, L::WIDTH * stride));
                    for _ in 0..blocks {
                        T::unpack::<L>(&mut source, &mut dots);
                        source.skip::<L>(T::BYTES);
                    }
                }
                for column in 0..COLUMNS {
                    let to = job.out.row(row).wrapping_add(column * job.out.stride());
                    L::store_some(to, dots.sums[column][0], rows);
                }
            }
        }
    }
}

#[inline(always)]
fn fast_tile<L: Lanes, const SIGNED: bool, const HALVES: bool>(groups: usize, columns: usize, place: Place) {
    match (groups, columns) {
        (1, 1) => L::enter(Tile::<SIGNED, HALVES, 1, 1>(place)),
        (1, 2) => L::enter(Tile::<SIGNED, HALVES, 1, 2>(place)),
        (1, 3) => L::enter(Tile::<SIGNED, HALVES, 1, 3>(place)),
        (1, 4) => L::enter(Tile::<SIGNED, HALVES, 1, 4>(place)),
        (1, 5) => L::enter(Tile::<SIGNED, HALVES, 1, 5>(place)),
        (1, _) => L::enter(Tile::<SIGNED, HALVES, 1, 6>(place)),
        (_, 1) => L::enter(Tile::<SIGNED, HALVES, 2, 1>(place)),
        (_, 2) => L::enter(Tile::<SIGNED, HALVES, 2, 2>(place)),
        (_, 3) => L::enter(Tile::<SIGNED, HALVES, 2, 3>(place)),
        (_, 4) => L::enter(Tile::<SIGNED, HALVES, 2, 4>(place)),
        (_, 5) => L::enter(Tile::<SIGNED, HALVES, 2, 5>(place)),
        (_, _) => L::enter(Tile::<SIGNED, HALVES, 2, 6>(place)),
    }
}
