//! Walking the weights in the exact mode.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::job::{Job, TAIL, Tail, for_tiles};
use super::lanes::Lanes;
use super::level::Task;
use super::panel::{FloatFormat, StoreFloats};
use super::rows::{Ahead, Rows};
use super::tile_exact::{Dots, Place, SLAB, Tile};

/// A product in the exact mode with weights of type `T`.
pub(crate) struct Exact<'a, T>(pub Job<'a, f32>, pub PhantomData<T>);

impl<T: FloatFormat> Task for Exact<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        const { assert!(SLAB / T::VALUES * T::BYTES * L::WIDTH <= TAIL) }
        let job = self.0;
        match job.out.columns() {
            0 => return,
            1 => return L::enter(FewExact::<T, 1>(job, PhantomData)),
            _ => {}
        }
        if T::EVERY_FEW {
            match job.out.columns() {
                2 => return L::enter(FewExact::<T, 2>(job, PhantomData)),
                3 => return L::enter(FewExact::<T, 3>(job, PhantomData)),
                4 => return L::enter(FewExact::<T, 4>(job, PhantomData)),
                _ => {}
            }
        }
        let (k, stride) = (job.weights.k(), job.weights.row_bytes());
        let mut tail = Tail::new();
        let mut panel = [const { MaybeUninit::<L::F>::uninit() }; 2 * SLAB];
        let panel: *mut L::F = panel.as_mut_ptr().cast();
        for row in job.out.rows().step_by(2 * L::WIDTH) {
            let rows = (job.out.rows().end - row).min(2 * L::WIDTH);
            let groups = rows.div_ceil(L::WIDTH);
            let tile = job.weights.bytes().as_ptr().wrapping_add(row * stride);
            let mut ahead = Ahead::of_rows(tile, 2 * L::WIDTH * stride);
            for slab in (0..k).step_by(SLAB) {
                let values = (k - slab).min(SLAB);
                for group in 0..groups {
                    let first = row + group * L::WIDTH;
                    // SAFETY: the rows exist, as `matmul_exact` checked; `values` is a whole number of file blocks.
                    unsafe {
                        let from =
                            job.weights.bytes().as_ptr().add(first * stride + slab / T::VALUES * T::BYTES);
                        let here = rows - group * L::WIDTH;
                        let (from, stride) =
                            tail.group(from, stride, here, (L::WIDTH, values / T::VALUES * T::BYTES));
                        let mut source = Rows::new(from, stride, ahead);
                        let mut to = StoreFloats::new(panel.add(group * SLAB));
                        for _ in 0..values / T::VALUES {
                            T::decode::<L>(&mut source, &mut to);
                            source.skip::<L>(T::BYTES);
                        }
                        ahead = source.ahead;
                    }
                }
                for_tiles(job.out.columns(), L::TILE_COLUMNS[2], |column, columns| {
                    exact_tile::<L>(
                        groups,
                        columns,
                        Place {
                            panel: panel.cast(),
                            blocks: values / 32,
                            activations: job.activations(column, slab),
                            column: job.column,
                            out: job.out.row(row).wrapping_add(column * job.out.stride()),
                            out_stride: job.out.stride(),
                            rows,
                            fresh: slab == 0,
                        },
                    );
                });
            }
        }
    }
}

#[inline(always)]
fn exact_tile<L: Lanes>(groups: usize, columns: usize, place: Place) {
    match (groups, columns) {
        (1, 1) => L::enter(Tile::<1, 1>(place)),
        (1, 2) => L::enter(Tile::<1, 2>(place)),
        (1, 3) => L::enter(Tile::<1, 3>(place)),
        (1, 4) => L::enter(Tile::<1, 4>(place)),
        (1, 5) => L::enter(Tile::<1, 5>(place)),
        (1, 6) => L::enter(Tile::<1, 6>(place)),
        (1, 7) => L::enter(Tile::<1, 7>(place)),
        (1, 8) => L::enter(Tile::<1, 8>(place)),
        (1, 9) => L::enter(Tile::<1, 9>(place)),
        (1, 10) => L::enter(Tile::<1, 10>(place)),
        (1, 11) => L::enter(Tile::<1, 11>(place)),
        (1, _) => L::enter(Tile::<1, 12>(place)),
        (_, 1) => L::enter(Tile::<2, 1>(place)),
        (_, 2) => L::enter(Tile::<2, 2>(place)),
        (_, 3) => L::enter(Tile::<2, 3>(place)),
        (_, 4) => L::enter(Tile::<2, 4>(place)),
        (_, 5) => L::enter(Tile::<2, 5>(place)),
        (_, 6) => L::enter(Tile::<2, 6>(place)),
        (_, 7) => L::enter(Tile::<2, 7>(place)),
        (_, 8) => L::enter(Tile::<2, 8>(place)),
        (_, 9) => L::enter(Tile::<2, 9>(place)),
        (_, 10) => L::enter(Tile::<2, 10>(place)),
        (_, 11) => L::enter(Tile::<2, 11>(place)),
        (_, _) => L::enter(Tile::<2, 12>(place)),
    }
}

/// [`Exact`] for so few columns that weights need not be kept.
struct FewExact<'a, T, const COLUMNS: usize>(Job<'a, f32>, PhantomData<T>);

impl<T: FloatFormat, const COLUMNS: usize> Task for FewExact<'_, T, COLUMNS> {
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
            // SAFETY: the rows and columns exist, as `matmul_exact` checked; slabs are whole numbers of file blocks.
            unsafe {
                let mut dots = Dots::<L, COLUMNS>::new(job.activations, job.column);
                for start in (0..k).step_by(slab) {
                    let blocks = (k - start).min(slab) / T::VALUES;
                    let from = from.add(start / T::VALUES * T::BYTES);
                    let (at, stride) = tail.group(from, stride, rows, (L::WIDTH, blocks * T::BYTES));
                    let mut source = Rows::new(at, stride, Ahead::of_rows(at, L::WIDTH * stride));
                    for _ in 0..blocks {
                        T::decode::<L>(&mut source, &mut dots);
                        source.skip::<L>(T::BYTES);
                    }
                }
                for column in 0..COLUMNS {
                    let to = job.out.row(row).wrapping_add(column * job.out.stride());
                    L::store_some(to, dots.totals[column], rows);
                }
            }
        }
    }
}
