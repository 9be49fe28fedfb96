//! A small matrix product whose sums stay in registers.

use super::lanes::Lanes;
use super::level::{Simd, Task};

/// `to (+)= a·b`. The number of rows of `to` must be a multiple of [`TILE`], `columns` one of 16; else nothing happens.
pub struct Product<'a> {
    /// Element (m, i) lies at `m·steps.0 + i·steps.1`.
    pub a: &'a [f32],
    /// Distances between rows of a and between the values of a row.
    pub steps: (usize, usize),
    /// Values of a row of a, and rows of b.
    pub inner: usize,
    /// Rows of `columns` values.
    pub b: &'a [f32],
    /// Rows of `columns` values.
    pub to: &'a mut [f32],
    /// Values of a row of b and of `to`.
    pub columns: usize,
    /// Whether the product is added to what is there.
    pub add: bool,
}

/// Rows of a tile.
pub const TILE: usize = 8;

/// Computes a product.
pub fn multiply(simd: Simd, product: Product<'_>) {
    simd.run(product);
}

impl Task for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let rows = self.to.len() / self.columns.max(1);
        let (step, along) = self.steps;
        let last = rows.saturating_sub(1) * step + self.inner.saturating_sub(1) * along;
        let fits = self.columns.is_multiple_of(L::WIDTH) && rows.is_multiple_of(TILE);
        // Callers keep this; the check makes the loop below sound.
        if !fits || last >= self.a.len() || self.inner * self.columns > self.b.len() {
            return;
        }
        for row in (0..rows).step_by(TILE) {
            let mut column = 0;
            while column + 2 * L::WIDTH <= self.columns {
                tile::<L, 2>(&self, row, column);
                column += 2 * L::WIDTH;
            }
            if column < self.columns {
                tile::<L, 1>(&self, row, column);
            }
        }

        #[inline(always)]
        fn tile<L: Lanes, const N: usize>(p: &Product<'_>, row: usize, column: usize) {
            let (step, along) = p.steps;
            let mut sums = [[L::splat(0.0); N]; TILE];
            for i in 0..p.inner {
                // SAFETY: `run` checked that every row of a, b and to is inside its slice.
                unsafe {
                    let b = p.b.as_ptr().add(i * p.columns + column);
                    let mut values = [L::splat(0.0); N];
                    for n in 0..N {
                        values[n] = L::load(b.add(n * L::WIDTH));
                    }
                    for r in 0..TILE {
                        let a = L::splat(*p.a.as_ptr().add((row + r) * step + i * along));
                        for n in 0..N {
                            sums[r][n] = L::fma(a, values[n], sums[r][n]);
                        }
                    }
                }
            }
            for r in 0..TILE {
                for n in 0..N {
                    // SAFETY: as above; the slice is borrowed mutably by this product alone.
                    unsafe {
                        let to = p.to.as_ptr().add((row + r) * p.columns + column + n * L::WIDTH).cast_mut();
                        let sum = if p.add { L::add(L::load(to), sums[r][n]) } else { sums[r][n] };
                        L::store(to, sum);
                    }
                }
            }
        }
    }
}
