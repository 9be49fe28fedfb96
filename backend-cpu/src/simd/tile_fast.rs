//! Products of a panel with 8-bit activations.

use super::activations::ActivationBlock;
use super::lanes::Lanes;
use super::level::Task;
use super::panel::{Line, PanelBlock, Sink};

/// Values of a row that are unpacked at a time.
pub(crate) const SLAB: usize = 512;
/// Panel blocks of one group of rows.
pub(crate) const SLAB_BLOCKS: usize = SLAB / 32;

/// What a tile works on. Pointers are for the first of its rows, columns and blocks.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// One group after the other, [`SLAB_BLOCKS`] apart. A `PanelBlock` of the level that runs.
    pub panel: *const u8,
    /// Blocks to take from each group.
    pub blocks: usize,
    pub activations: *const ActivationBlock,
    /// Activation blocks from one column to the next.
    pub column: usize,
    pub out: *mut f32,
    /// Floats from one column of `out` to the next.
    pub out_stride: usize,
    /// Rows of the tile that exist, `GROUPS · WIDTH` at most.
    pub rows: usize,
    /// Start from zero instead of from `out`.
    pub fresh: bool,
}

impl Place {
    /// Where a register of results goes, and how many of its rows exist.
    #[inline(always)]
    fn out<L: Lanes>(&self, group: usize, column: usize) -> (*mut f32, usize) {
        let row = group * L::WIDTH;
        let count = self.rows.saturating_sub(row).min(L::WIDTH);
        (self.out.wrapping_add(column * self.out_stride + row), count)
    }
}

/// `out += panel · activations` for `GROUPS · WIDTH` rows and `COLUMNS` columns, with the sums in registers.
///
/// Each sum takes block after block, so that it does not depend on the tile that it is part of:
/// * one signed scale: `sum += scale_w · (scale_a · dot)`
/// * two signed scales: `sum += scale_a · (first · dot_low + second · dot_high)`
/// * unsigned: `sum += scale_w · (scale_a · dot)`, then `sum += minimum · scaled_sum_a`
/// * unsigned in halves: `sum += scale_a · (first · dot_low + second · dot_high − minimum · (least · sum_a of both))`
pub(crate) struct Tile<const SIGNED: bool, const HALVES: bool, const GROUPS: usize, const COLUMNS: usize>(
    pub Place,
);

impl<const SIGNED: bool, const HALVES: bool, const GROUPS: usize, const COLUMNS: usize> Task
    for Tile<SIGNED, HALVES, GROUPS, COLUMNS>
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let place = self.0;
        // SAFETY: whoever made the place vouches for its pointers: `blocks` blocks of each group and column are
        // readable, `rows` floats of each column of `out` writable.
        unsafe {
            let mut sums = [[L::splat(0.0); GROUPS]; COLUMNS];
            if !place.fresh {
                for column in 0..COLUMNS {
                    for group in 0..GROUPS {
                        let (from, count) = place.out::<L>(group, column);
                        sums[column][group] = L::load_some(from, count);
                    }
                }
            }
            let mut panel = [place.panel.cast::<PanelBlock<L>>(); GROUPS];
            for group in 0..GROUPS {
                panel[group] = panel[group].add(group * SLAB_BLOCKS);
            }
            let mut activations = [place.activations; COLUMNS];
            for column in 0..COLUMNS {
                activations[column] = activations[column].add(column * place.column);
            }
            for _ in 0..place.blocks {
                if HALVES && SIGNED {
                    add_halves::<L, GROUPS, COLUMNS>(&mut sums, panel, activations);
                } else if HALVES {
                    add_lines::<L, GROUPS, COLUMNS>(&mut sums, panel, activations);
                } else {
                    add_block::<L, SIGNED, GROUPS, COLUMNS>(&mut sums, panel, activations);
                }
                for group in 0..GROUPS {
                    panel[group] = panel[group].add(1);
                }
                for column in 0..COLUMNS {
                    activations[column] = activations[column].add(1);
                }
            }
            for column in 0..COLUMNS {
                for group in 0..GROUPS {
                    let (to, count) = place.out::<L>(group, column);
                    L::store_some(to, sums[column][group], count);
                }
            }
        }
    }
}

/// Sums of one block, each register `from..to` of its values; started by `minus_128_sums[which]`.
///
/// # Safety
/// The pointers must be readable.
#[inline(always)]
unsafe fn dots<L: Lanes, const SIGNED: bool, const GROUPS: usize, const COLUMNS: usize>(
    panel: [*const PanelBlock<L>; GROUPS],
    activations: [*const ActivationBlock; COLUMNS],
    registers: std::ops::Range<usize>,
    which: usize,
) -> [[L::I; GROUPS]; COLUMNS] {
    // SAFETY: as the caller says; a block holds eight registers of four values.
    unsafe {
        let mut dots = [[L::splat_i(0); GROUPS]; COLUMNS];
        if SIGNED {
            for column in 0..COLUMNS {
                dots[column] = [L::start((*activations[column]).minus_128_sums[which]); GROUPS];
            }
        }
        for index in registers {
            let mut weights = [L::splat_i(0); GROUPS];
            for group in 0..GROUPS {
                weights[group] = (*panel[group]).values[index];
            }
            for column in 0..COLUMNS {
                let values =
                    L::splat_four((&raw const (*activations[column]).values).cast::<i8>().add(4 * index));
                for group in 0..GROUPS {
                    let dot = &mut dots[column][group];
                    *dot = if SIGNED {
                        L::dot_signed(*dot, weights[group], values)
                    } else {
                        L::dot_unsigned(*dot, weights[group], values)
                    };
                }
            }
        }
        dots
    }
}

/// # Safety
/// The pointers must be readable.
#[inline(always)]
unsafe fn add_block<L: Lanes, const SIGNED: bool, const GROUPS: usize, const COLUMNS: usize>(
    sums: &mut [[L::F; GROUPS]; COLUMNS],
    panel: [*const PanelBlock<L>; GROUPS],
    activations: [*const ActivationBlock; COLUMNS],
) {
    // SAFETY: as the caller says.
    unsafe {
        let dots = dots::<L, SIGNED, GROUPS, COLUMNS>(panel, activations, 0..8, 0);
        for column in 0..COLUMNS {
            let scale = L::splat((*activations[column]).scale);
            for group in 0..GROUPS {
                let sum = &mut sums[column][group];
                let scaled = L::mul(L::to_float(dots[column][group]), scale);
                *sum = L::fma(scaled, (*panel[group]).first, *sum);
                if !SIGNED {
                    let scaled_sum = L::splat((*activations[column]).scaled_sum);
                    *sum = L::fma((*panel[group]).second, scaled_sum, *sum);
                }
            }
        }
    }
}

/// # Safety
/// The pointers must be readable.
#[inline(always)]
unsafe fn add_halves<L: Lanes, const GROUPS: usize, const COLUMNS: usize>(
    sums: &mut [[L::F; GROUPS]; COLUMNS],
    panel: [*const PanelBlock<L>; GROUPS],
    activations: [*const ActivationBlock; COLUMNS],
) {
    // SAFETY: as the caller says.
    unsafe {
        let low = dots::<L, true, GROUPS, COLUMNS>(panel, activations, 0..4, 1);
        let mut scaled = [[L::splat(0.0); GROUPS]; COLUMNS];
        for column in 0..COLUMNS {
            for group in 0..GROUPS {
                scaled[column][group] = L::mul(L::to_float(low[column][group]), (*panel[group]).first);
            }
        }
        let high = dots::<L, true, GROUPS, COLUMNS>(panel, activations, 4..8, 2);
        for column in 0..COLUMNS {
            let scale = L::splat((*activations[column]).scale);
            for group in 0..GROUPS {
                let sum = &mut sums[column][group];
                let both =
                    L::fma(L::to_float(high[column][group]), (*panel[group]).second, scaled[column][group]);
                *sum = L::fma(both, scale, *sum);
            }
        }
    }
}

/// # Safety
/// The pointers must be readable.
#[inline(always)]
unsafe fn add_lines<L: Lanes, const GROUPS: usize, const COLUMNS: usize>(
    sums: &mut [[L::F; GROUPS]; COLUMNS],
    panel: [*const PanelBlock<L>; GROUPS],
    activations: [*const ActivationBlock; COLUMNS],
) {
    // SAFETY: as the caller says.
    unsafe {
        let low = dots::<L, false, GROUPS, COLUMNS>(panel, activations, 0..4, 1);
        let high = dots::<L, false, GROUPS, COLUMNS>(panel, activations, 4..8, 2);
        for group in 0..GROUPS {
            let [first, second] = [0, 1].map(|half| Line::of(&*panel[group], half));
            for column in 0..COLUMNS {
                let [_, low_sum, high_sum] = (*activations[column]).minus_128_sums;
                let least = L::add_i(
                    L::mul_i(first.least, L::splat_i(low_sum / 128)),
                    L::mul_i(second.least, L::splat_i(high_sum / 128)),
                );
                let own = L::mul(L::to_float(low[column][group]), first.scale);
                let both = L::fma(L::to_float(high[column][group]), second.scale, own);
                let both = L::fma(L::to_float(least), first.minimum, both);
                let sum = &mut sums[column][group];
                *sum = L::fma(both, L::splat((*activations[column]).scale), *sum);
            }
        }
    }
}

/// Multiplies blocks of one group of rows with few columns as they are unpacked. The sums are those of [`Tile`].
pub(crate) struct Dots<L: Lanes, const SIGNED: bool, const HALVES: bool, const COLUMNS: usize> {
    pub sums: [[L::F; 1]; COLUMNS],
    activations: [*const ActivationBlock; COLUMNS],
}

impl<L: Lanes, const SIGNED: bool, const HALVES: bool, const COLUMNS: usize>
    Dots<L, SIGNED, HALVES, COLUMNS>
{
    /// Columns begin `column` blocks apart.
    ///
    /// # Safety
    /// Each column must have as many blocks as are going to be taken.
    #[inline(always)]
    pub unsafe fn new(activations: *const ActivationBlock, column: usize) -> Self {
        let mut columns = [activations; COLUMNS];
        for index in 0..COLUMNS {
            columns[index] = activations.wrapping_add(index * column);
        }
        Dots { sums: [[L::splat(0.0); 1]; COLUMNS], activations: columns }
    }
}

impl<L: Lanes, const SIGNED: bool, const HALVES: bool, const COLUMNS: usize> Sink<L>
    for Dots<L, SIGNED, HALVES, COLUMNS>
{
    #[inline(always)]
    fn take(&mut self, block: PanelBlock<L>) {
        // SAFETY: whoever made this vouches for the activations.
        unsafe {
            if HALVES && SIGNED {
                add_halves::<L, 1, COLUMNS>(&mut self.sums, [&raw const block], self.activations);
            } else if HALVES {
                add_lines::<L, 1, COLUMNS>(&mut self.sums, [&raw const block], self.activations);
            } else {
                add_block::<L, SIGNED, 1, COLUMNS>(&mut self.sums, [&raw const block], self.activations);
            }
        }
        for index in 0..COLUMNS {
            self.activations[index] = self.activations[index].wrapping_add(1);
        }
    }
}
