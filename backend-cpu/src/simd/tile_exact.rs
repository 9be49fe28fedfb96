//! Products of a panel of floats with f32 activations.

use super::lanes::Lanes;
use super::level::Task;
use super::panel::FloatSink;

/// Values of a row that are decoded at a time.
pub(crate) const SLAB: usize = 256;

/// What a tile works on. Pointers are for the first of its rows, columns and values.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// One group after the other, [`SLAB`] registers apart. Registers of the level that runs.
    pub panel: *const u8,
    /// Blocks of 32 values to take from each group.
    pub blocks: usize,
    pub activations: *const f32,
    /// Floats from one column of activations to the next.
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

/// `out += panel · activations` for `GROUPS · WIDTH` rows and `COLUMNS` columns.
///
/// Each 32 products are summed on their own, value after value, and these sums are added in order. So a result does not
/// depend on the tile that it is part of.
pub(crate) struct Tile<const GROUPS: usize, const COLUMNS: usize>(pub Place);

impl<const GROUPS: usize, const COLUMNS: usize> Task for Tile<GROUPS, COLUMNS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let place = self.0;
        // SAFETY: whoever made the place vouches for its pointers: `blocks` times 32 values of each group and column are
        // readable, `rows` floats of each column of `out` writable.
        unsafe {
            // Kept in memory: the registers are full.
            let mut totals = [[L::splat(0.0); GROUPS]; COLUMNS];
            if !place.fresh {
                for column in 0..COLUMNS {
                    for group in 0..GROUPS {
                        let (from, count) = place.out::<L>(group, column);
                        totals[column][group] = L::load_some(from, count);
                    }
                }
            }
            let mut panel = [place.panel.cast::<L::F>(); GROUPS];
            for group in 0..GROUPS {
                panel[group] = panel[group].add(group * SLAB);
            }
            let mut activations = [place.activations; COLUMNS];
            for column in 0..COLUMNS {
                activations[column] = activations[column].add(column * place.column);
            }
            for _ in 0..place.blocks {
                let mut sums = [[L::splat(0.0); GROUPS]; COLUMNS];
                for index in 0..32 {
                    let mut weights = [L::splat(0.0); GROUPS];
                    for group in 0..GROUPS {
                        weights[group] = panel[group].add(index).read();
                    }
                    for column in 0..COLUMNS {
                        let value = L::splat(activations[column].add(index).read());
                        for group in 0..GROUPS {
                            let sum = &mut sums[column][group];
                            *sum = L::fma(weights[group], value, *sum);
                        }
                    }
                }
                for column in 0..COLUMNS {
                    for group in 0..GROUPS {
                        totals[column][group] = L::add(totals[column][group], sums[column][group]);
                    }
                }
                for group in 0..GROUPS {
                    panel[group] = panel[group].add(32);
                }
                for column in 0..COLUMNS {
                    activations[column] = activations[column].add(32);
                }
            }
            for column in 0..COLUMNS {
                for group in 0..GROUPS {
                    let (to, count) = place.out::<L>(group, column);
                    L::store_some(to, totals[column][group], count);
                }
            }
        }
    }
}

/// Multiplies values of one group of rows with few columns as they are decoded. The sums are those of [`Tile`].
pub(crate) struct Dots<L: Lanes, const COLUMNS: usize> {
    pub totals: [L::F; COLUMNS],
    sums: [L::F; COLUMNS],
    activations: [*const f32; COLUMNS],
}

impl<L: Lanes, const COLUMNS: usize> Dots<L, COLUMNS> {
    /// Columns begin `column` floats apart.
    ///
    /// # Safety
    /// Each column must have as many values as are going to be taken.
    #[inline(always)]
    pub unsafe fn new(activations: *const f32, column: usize) -> Self {
        let mut columns = [activations; COLUMNS];
        for index in 0..COLUMNS {
            columns[index] = activations.wrapping_add(index * column);
        }
        let zero = [L::splat(0.0); COLUMNS];
        Dots { totals: zero, sums: zero, activations: columns }
    }
}

impl<L: Lanes, const COLUMNS: usize> FloatSink<L> for Dots<L, COLUMNS> {
    #[inline(always)]
    fn take(&mut self, value: L::F) {
        for column in 0..COLUMNS {
            // SAFETY: whoever made this vouches for the activations.
            let activation = L::splat(unsafe { self.activations[column].read() });
            self.sums[column] = L::fma(value, activation, self.sums[column]);
            self.activations[column] = self.activations[column].wrapping_add(1);
        }
    }

    #[inline(always)]
    fn end(&mut self) {
        for column in 0..COLUMNS {
            self.totals[column] = L::add(self.totals[column], self.sums[column]);
            self.sums[column] = L::splat(0.0);
        }
    }
}
