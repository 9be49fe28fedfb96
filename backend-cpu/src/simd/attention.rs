//! Attention of a few queries over cached rows: scores and weighted sums.

use std::array::from_fn;

use half::f16;
use weft_core::graph::DType;

use super::cached::{BytesOf32, Cached, NibblesOf32, Rows, Typed};
use super::lanes::Lanes;
use super::level::{Simd, Task};

impl Rows {
    /// `to[h][c] = queries[h] · row c`. Queries are packed rows; rows of `to` are `pitch` values, a multiple of 4.
    pub fn scores(self, simd: Simd, queries: &[f32], to: &mut [f32], pitch: usize) {
        let heads = queries.len() / self.width.max(1);
        if !pitch.is_multiple_of(4) || self.count > pitch || to.len() < heads * pitch {
            return;
        }
        match self.dtype {
            DType::F32 => simd.run(Scores { rows: self.typed::<f32>(), heads, queries, to, pitch }),
            DType::F16 => simd.run(Scores { rows: self.typed::<f16>(), heads, queries, to, pitch }),
            DType::Q8_0 => simd.run(Scores { rows: self.typed::<BytesOf32>(), heads, queries, to, pitch }),
            _ => simd.run(Scores { rows: self.typed::<NibblesOf32>(), heads, queries, to, pitch }),
        }
    }

    /// `to[h] = Σ weights[h][c] · row c`. Rows of weights are `pitch` values; those of `to` are packed.
    pub fn weighted_sums(self, simd: Simd, weights: &[f32], pitch: usize, to: &mut [f32]) {
        let heads = to.len() / self.width.max(1);
        if self.count > pitch || weights.len() < heads * pitch {
            return;
        }
        match self.dtype {
            DType::F32 => simd.run(Weighted { rows: self.typed::<f32>(), heads, weights, to, pitch }),
            DType::F16 => simd.run(Weighted { rows: self.typed::<f16>(), heads, weights, to, pitch }),
            DType::Q8_0 => simd.run(Weighted { rows: self.typed::<BytesOf32>(), heads, weights, to, pitch }),
            _ => simd.run(Weighted { rows: self.typed::<NibblesOf32>(), heads, weights, to, pitch }),
        }
    }
}

/// Cells whose scores are summed at the same time.
const CELLS: usize = 4;

struct Scores<'a, E> {
    rows: Typed<E>,
    heads: usize,
    queries: &'a [f32],
    to: &'a mut [f32],
    pitch: usize,
}

impl<E: Cached> Task for Scores<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        // So many heads that four sums of each stay in registers.
        let most = if L::WIDTH == 16 { 4 } else { 2 };
        let mut head = 0;
        while head < self.heads {
            let heads = (self.heads - head).min(most);
            match heads {
                1 => scores::<L, E, 1>(&mut self, head),
                2 => scores::<L, E, 2>(&mut self, head),
                3 => scores::<L, E, 3>(&mut self, head),
                _ => scores::<L, E, 4>(&mut self, head),
            }
            head += heads;
        }

        #[inline(always)]
        fn scores<L: Lanes, E: Cached, const H: usize>(task: &mut Scores<'_, E>, head: usize) {
            let Typed { width, count, .. } = task.rows;
            let queries = task.queries[head * width..(head + H) * width].as_ptr();
            for cell in (0..count).step_by(CELLS) {
                // The last row stands in for those beyond it.
                let rows: [*const u8; CELLS] = from_fn(|i| task.rows.at((cell + i).min(count - 1)));
                let mut sums = [[L::splat(0.0); CELLS]; H];
                for at in (0..width).step_by(L::WIDTH) {
                    // SAFETY: widths are multiples of 16 and so of `WIDTH`; H queries lie in the slice.
                    unsafe {
                        let mut keys = [L::splat(0.0); CELLS];
                        for i in 0..CELLS {
                            keys[i] = E::load::<L>(rows[i], at);
                        }
                        for h in 0..H {
                            let query = L::load(queries.add(h * width + at));
                            for i in 0..CELLS {
                                sums[h][i] = L::fma(query, keys[i], sums[h][i]);
                            }
                        }
                    }
                }
                for h in 0..H {
                    // Rows of `to` are a multiple of four.
                    let to = (head + h) * task.pitch + cell;
                    task.to[to..to + CELLS].copy_from_slice(&L::sum_four(sums[h]));
                }
            }
        }
    }
}

struct Weighted<'a, E> {
    rows: Typed<E>,
    heads: usize,
    weights: &'a [f32],
    to: &'a mut [f32],
    pitch: usize,
}

impl<E: Cached> Task for Weighted<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        // As many heads and columns as their sums leave registers for.
        let (most, wide) = if L::WIDTH == 16 { (4, 4) } else { (4, 2) };
        let mut head = 0;
        while head < self.heads {
            let heads = (self.heads - head).min(most);
            let mut column = 0;
            while column < self.rows.width {
                let is_wide = column + wide * L::WIDTH <= self.rows.width;
                match (heads, is_wide, wide) {
                    (1, true, 4) => sums::<L, E, 1, 4>(&mut self, head, column),
                    (2, true, 4) => sums::<L, E, 2, 4>(&mut self, head, column),
                    (3, true, 4) => sums::<L, E, 3, 4>(&mut self, head, column),
                    (4, true, 4) => sums::<L, E, 4, 4>(&mut self, head, column),
                    (1, true, _) => sums::<L, E, 1, 2>(&mut self, head, column),
                    (2, true, _) => sums::<L, E, 2, 2>(&mut self, head, column),
                    (3, true, _) => sums::<L, E, 3, 2>(&mut self, head, column),
                    (4, true, _) => sums::<L, E, 4, 2>(&mut self, head, column),
                    (1, ..) => sums::<L, E, 1, 1>(&mut self, head, column),
                    (2, ..) => sums::<L, E, 2, 1>(&mut self, head, column),
                    (3, ..) => sums::<L, E, 3, 1>(&mut self, head, column),
                    _ => sums::<L, E, 4, 1>(&mut self, head, column),
                }
                column += if is_wide { wide * L::WIDTH } else { L::WIDTH };
            }
            head += heads;
        }

        #[inline(always)]
        fn sums<L: Lanes, E: Cached, const H: usize, const N: usize>(
            task: &mut Weighted<'_, E>,
            head: usize,
            column: usize,
        ) {
            let Typed { width, count, .. } = task.rows;
            let pitch = task.pitch;
            let weights = task.weights[head * pitch..(head + H) * pitch].as_ptr();
            let mut sums = [[L::splat(0.0); N]; H];
            for cell in 0..count {
                let row = task.rows.at(cell);
                // SAFETY: N registers are left in the row; `cell` is below `pitch`.
                unsafe {
                    let mut values = [L::splat(0.0); N];
                    for n in 0..N {
                        values[n] = E::load::<L>(row, column + n * L::WIDTH);
                    }
                    for h in 0..H {
                        let weight = L::splat(*weights.add(h * pitch + cell));
                        for n in 0..N {
                            sums[h][n] = L::fma(weight, values[n], sums[h][n]);
                        }
                    }
                }
            }
            for h in 0..H {
                let to = task.to[(head + h) * width + column..][..N * L::WIDTH].as_mut_ptr();
                for n in 0..N {
                    // SAFETY: the slice has room for N registers.
                    unsafe { L::store(to.add(n * L::WIDTH), sums[h][n]) };
                }
            }
        }
    }
}
