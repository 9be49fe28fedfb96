//! Products of weights and activations, by type and mode.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use weft_core::graph::DType;

use super::activations::{ACTIVATION_VALUES, ActivationBlock};
use super::lanes::Lanes;
use super::level::{Simd, Task};
use super::operands::{Columns, MatmulError, Output, Weights};
use super::panel::{FloatFormat, Format, PanelBlock, Store};
use super::rows::{Ahead, Rows};
use super::tile_fast::Dots;
use super::{formats_32, formats_256, formats_plain, tile_exact, tile_fast};

/// Ranges of rows that begin at multiples of this waste nothing.
pub const ROW_TILE: usize = 32;

/// Whether [`matmul_fast`] takes weights of this type. Plain floats always go through [`matmul_exact`].
pub fn has_fast(dtype: DType) -> bool {
    use DType::{Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0};
    matches!(dtype, Q4_0 | Q4_1 | Q5_0 | Q5_1 | Q8_0 | Q4_K | Q5_K | Q6_K)
}

/// Whether [`matmul_exact`] takes weights of this type.
pub fn has_exact(dtype: DType) -> bool {
    has_fast(dtype) || matches!(dtype, DType::F32 | DType::F16 | DType::BF16)
}

/// `out[r, c] = Σ weights[i, r] · activations[i, c]` for the rows of `out`, on activations rounded to 8 bits.
///
/// `activations` holds `k / 32` blocks of each column, column after column. At one level a result depends on its row
/// and column alone, not on the number of columns or the range of rows. Nothing is allocated.
///
/// # Errors
/// [`MatmulError::Type`], [`MatmulError::Length`].
pub fn matmul_fast(
    simd: Simd,
    weights: &Weights<'_>,
    activations: &[ActivationBlock],
    out: Output<'_>,
) -> Result<(), MatmulError> {
    let column = weights.k() / ACTIVATION_VALUES;
    check("activation blocks", activations.len(), out.columns().saturating_mul(column))?;
    check("rows of weights", weights.rows(), out.rows().end)?;
    let job = Job { weights: *weights, activations: activations.as_ptr(), column, out };
    match weights.dtype() {
        DType::Q4_0 => simd.run(Fast(job, PhantomData::<formats_32::Q4_0>)),
        DType::Q4_1 => simd.run(Fast(job, PhantomData::<formats_32::Q4_1>)),
        DType::Q5_0 => simd.run(Fast(job, PhantomData::<formats_32::Q5_0>)),
        DType::Q5_1 => simd.run(Fast(job, PhantomData::<formats_32::Q5_1>)),
        DType::Q8_0 => simd.run(Fast(job, PhantomData::<formats_32::Q8_0>)),
        DType::Q4_K => simd.run(Fast(job, PhantomData::<formats_256::Q4K>)),
        DType::Q5_K => simd.run(Fast(job, PhantomData::<formats_256::Q5K>)),
        DType::Q6_K => simd.run(Fast(job, PhantomData::<formats_256::Q6K>)),
        other => return Err(MatmulError::Type(other)),
    }
    Ok(())
}

/// `out[r, c] = Σ weights[i, r] · columns[i, c]` for the rows of `out`, on f32 activations.
///
/// Weights are decoded to f32, products summed in f32: 32 at a time, then block after block. At one level a result
/// depends on its row and column alone. Nothing is allocated.
///
/// # Errors
/// [`MatmulError::Type`], [`MatmulError::Length`].
pub fn matmul_exact(
    simd: Simd,
    weights: &Weights<'_>,
    columns: Columns<'_>,
    out: Output<'_>,
) -> Result<(), MatmulError> {
    let last = out.columns().saturating_sub(1).saturating_mul(columns.stride);
    let want = if out.columns() == 0 { 0 } else { last.saturating_add(weights.k()) };
    check("activations", columns.values.len(), want)?;
    check("rows of weights", weights.rows(), out.rows().end)?;
    let job = Job { weights: *weights, activations: columns.values.as_ptr(), column: columns.stride, out };
    match weights.dtype() {
        DType::F32 => simd.run(Exact(job, PhantomData::<formats_plain::F32>)),
        DType::F16 => simd.run(Exact(job, PhantomData::<formats_plain::F16>)),
        DType::BF16 => simd.run(Exact(job, PhantomData::<formats_plain::Bf16>)),
        DType::Q4_0 => simd.run(Exact(job, PhantomData::<formats_32::Q4_0>)),
        DType::Q4_1 => simd.run(Exact(job, PhantomData::<formats_32::Q4_1>)),
        DType::Q5_0 => simd.run(Exact(job, PhantomData::<formats_32::Q5_0>)),
        DType::Q5_1 => simd.run(Exact(job, PhantomData::<formats_32::Q5_1>)),
        DType::Q8_0 => simd.run(Exact(job, PhantomData::<formats_32::Q8_0>)),
        DType::Q4_K => simd.run(Exact(job, PhantomData::<formats_256::Q4K>)),
        DType::Q5_K => simd.run(Exact(job, PhantomData::<formats_256::Q5K>)),
        DType::Q6_K => simd.run(Exact(job, PhantomData::<formats_256::Q6K>)),
        other => return Err(MatmulError::Type(other)),
    }
    Ok(())
}

fn check(what: &'static str, got: usize, want: usize) -> Result<(), MatmulError> {
    if got < want { Err(MatmulError::Length { what, got, want }) } else { Ok(()) }
}

/// Checked operands: `out.columns()` columns begin `column` elements of `A` apart.
struct Job<'a, A> {
    weights: Weights<'a>,
    activations: *const A,
    column: usize,
    out: Output<'a>,
}

impl<A> Job<'_, A> {
    /// The place of a column from a value on, in the given units.
    fn activations(&self, column: usize, at: usize) -> *const A {
        self.activations.wrapping_add(column * self.column + at)
    }
}

/// Bytes of a slab of the widest registers' rows, for the type with the most bytes.
const TAIL: usize = 16 * 256 * 4;

/// Rows that do not fill a group are copied here, so that a group may read beyond them.
struct Tail(MaybeUninit<[u8; TAIL]>);

impl Tail {
    /// Where a group of `width` rows begins and how far apart rows are.
    ///
    /// # Safety
    /// `bytes` of each of `rows` rows must be readable.
    #[inline(always)]
    unsafe fn group(
        &mut self,
        from: *const u8,
        stride: usize,
        rows: usize,
        sizes: (usize, usize),
    ) -> (*const u8, usize) {
        let (width, bytes) = sizes;
        if rows >= width {
            return (from, stride);
        }
        let to = self.0.as_mut_ptr().cast::<u8>();
        for row in 0..width {
            // SAFETY: `bytes` is at most that of a slab, so that `width` rows fit; missing rows repeat the last one.
            unsafe {
                to.add(row * bytes).copy_from_nonoverlapping(from.add(row.min(rows - 1) * stride), bytes)
            };
        }
        (to, bytes)
    }
}

struct Fast<'a, T>(Job<'a, ActivationBlock>, PhantomData<T>);

impl<T: Format> Task for Fast<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        use tile_fast::{Place, SLAB, SLAB_BLOCKS};
        const { assert!(SLAB / T::VALUES * T::BYTES * L::WIDTH <= TAIL) }
        let job = self.0;
        match job.out.columns() {
            0 => return,
            1 => return few::<L, T, 1>(job),
            2 => return few::<L, T, 2>(job),
            3 => return few::<L, T, 3>(job),
            4 => return few::<L, T, 4>(job),
            _ => {}
        }
        let (k, stride) = (job.weights.k(), job.weights.row_bytes());
        let mut tail = Tail(MaybeUninit::uninit());
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
                        (false, _) => fast_tile::<L, false, false>(groups, columns, place),
                    }
                });
            }
        }
    }
}

#[inline(always)]
fn few<L: Lanes, T: Format, const COLUMNS: usize>(job: Job<'_, ActivationBlock>) {
    match (T::SIGNED, T::HALVES) {
        (true, false) => L::enter(Few::<T, true, false, COLUMNS>(job, PhantomData)),
        (true, true) => L::enter(Few::<T, true, true, COLUMNS>(job, PhantomData)),
        (false, _) => L::enter(Few::<T, false, false, COLUMNS>(job, PhantomData)),
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
        let mut tail = Tail(MaybeUninit::uninit());
        for row in job.out.rows().step_by(L::WIDTH) {
            let rows = (job.out.rows().end - row).min(L::WIDTH);
            let slab = if rows == L::WIDTH { k } else { tile_fast::SLAB };
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

/// Cuts columns into tiles of nearly equal width.
#[inline(always)]
fn for_tiles(columns: usize, widest: usize, mut each: impl FnMut(usize, usize)) {
    let mut column = 0;
    for left in (1..=columns.div_ceil(widest)).rev() {
        let width = (columns - column).div_ceil(left);
        each(column, width);
        column += width;
    }
}

#[inline(always)]
fn fast_tile<L: Lanes, const SIGNED: bool, const HALVES: bool>(
    groups: usize,
    columns: usize,
    place: tile_fast::Place,
) {
    use tile_fast::Tile;
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

struct Exact<'a, T>(Job<'a, f32>, PhantomData<T>);

impl<T: FloatFormat> Task for Exact<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        use tile_exact::{Place, SLAB};
        const { assert!(SLAB / T::VALUES * T::BYTES * L::WIDTH <= TAIL) }
        let job = self.0;
        let (k, stride) = (job.weights.k(), job.weights.row_bytes());
        let mut tail = Tail(MaybeUninit::uninit());
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
                        let to = panel.add(group * SLAB);
                        for block in 0..values / T::VALUES {
                            T::decode::<L>(&mut source, to.add(block * T::VALUES));
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
fn exact_tile<L: Lanes>(groups: usize, columns: usize, place: tile_exact::Place) {
    use tile_exact::Tile;
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
