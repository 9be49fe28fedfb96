//! Where the elements of a tensor lie inside its storage: shape, byte strides, byte offset.
//!
//! Overlap is exact for strided views: two disjoint heads of one row do not conflict, although their bounding ranges do.

use super::DType;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Element type, extents (innermost first), byte strides and the byte offset inside a storage.
///
/// For quantised types the innermost stride is that of one block, and the innermost extent counts values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layout {
    /// Element type.
    pub dtype: DType,
    /// Extents, innermost first; unused dimensions are 1.
    pub shape: [u64; 4],
    /// Strides in bytes, innermost first.
    pub strides: [u64; 4],
    /// Byte offset of the first element inside the storage.
    pub offset: u64,
}

/// One level of a strided set of byte runs: `count` repetitions at `stride` bytes.
#[derive(Clone, Copy)]
struct Level {
    count: u64,
    stride: u64,
}

impl Layout {
    /// The packed layout of a shape at offset 0. `None` if rows are not whole blocks or the size overflows.
    pub fn packed(dtype: DType, shape: [u64; 4]) -> Option<Self> {
        let row = dtype.row_bytes(shape[0])?;
        let plane = row.checked_mul(shape[1])?;
        let cube = plane.checked_mul(shape[2])?;
        cube.checked_mul(shape[3])?;
        Some(Layout { dtype, shape, strides: [dtype.block_bytes(), row, plane, cube], offset: 0 })
    }

    /// Number of elements. Saturates; [`Layout::packed`] has refused shapes that overflow.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |n, e| n.saturating_mul(*e))
    }

    /// Rows: elements divided by the innermost extent.
    pub fn rows(&self) -> u64 {
        self.shape[1].saturating_mul(self.shape[2]).saturating_mul(self.shape[3])
    }

    /// Bytes of the elements themselves, gaps not counted.
    pub fn bytes(&self) -> u64 {
        self.elements() / self.dtype.block_values() * self.dtype.block_bytes()
    }

    /// Whether the strides are those of a packed tensor, unused dimensions aside.
    pub fn is_packed(&self) -> bool {
        (0..4).all(|d| self.is_packed_at(d))
    }

    /// Whether the stride of a dimension follows without gap from those below it. Always so for extent 1.
    pub fn is_packed_at(&self, dim: usize) -> bool {
        self.shape[dim] <= 1 || self.strides[dim] == self.packed_stride(dim)
    }

    /// The stride that a packed tensor of this shape has at a dimension.
    pub fn packed_stride(&self, dim: usize) -> u64 {
        let row = self.shape[0] / self.dtype.block_values() * self.dtype.block_bytes();
        match dim {
            0 => self.dtype.block_bytes(),
            _ => self.shape[1..dim].iter().fold(row, |n, e| n.saturating_mul(*e)),
        }
    }

    /// Whether the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// From the first byte to one past the last. `None` on overflow.
    pub fn range(&self) -> Option<Range<u64>> {
        if self.is_empty() {
            return Some(self.offset..self.offset);
        }
        let mut last = 0u64;
        for dim in 0..4 {
            let steps = if dim == 0 { self.shape[0] / self.dtype.block_values() } else { self.shape[dim] };
            last = last.checked_add(steps.checked_sub(1)?.checked_mul(self.strides[dim])?)?;
        }
        let end = self.offset.checked_add(last)?.checked_add(self.dtype.block_bytes())?;
        Some(self.offset..end)
    }

    /// The same elements as runs of contiguous bytes: the run length, and the levels that repeat it, outermost last.
    fn runs(&self) -> (u64, Vec<Level>) {
        let mut run = self.dtype.block_bytes();
        let mut levels = Vec::with_capacity(4);
        let mut dims: Vec<(u64, u64)> = (0..4)
            .map(|d| {
                (
                    if d == 0 { self.shape[0] / self.dtype.block_values() } else { self.shape[d] },
                    self.strides[d],
                )
            })
            .filter(|(count, stride)| *count > 1 && *stride > 0)
            .collect();
        dims.sort_by_key(|(_, stride)| *stride);
        for (count, stride) in dims {
            match levels.last_mut() {
                None if stride == run => run *= count,
                Some(Level { count: inner, stride: step }) if stride == *step * *inner => *inner *= count,
                _ => levels.push(Level { count, stride }),
            }
        }
        (run, levels)
    }

    /// Calls `each` with the byte range of every contiguous run, in ascending order of the outer dimensions.
    pub fn for_each_run(&self, mut each: impl FnMut(Range<u64>)) {
        if self.is_empty() {
            return;
        }
        let (run, levels) = self.runs();
        walk(self.offset, run, &levels, &mut each);
    }

    /// Calls `each` with offset and length of pieces that, joined, are the elements in packed order.
    pub fn in_order(&self, mut each: impl FnMut(u64, usize)) {
        if self.is_packed() {
            return each(self.offset, self.bytes() as usize);
        }
        let [_, n1, n2, n3] = self.shape;
        let blocks = self.shape[0] / self.dtype.block_values();
        let block = self.dtype.block_bytes();
        for (i3, i2, i1) in
            (0..n3).flat_map(|i3| (0..n2).flat_map(move |i2| (0..n1).map(move |i1| (i3, i2, i1))))
        {
            let start = self.offset + i1 * self.strides[1] + i2 * self.strides[2] + i3 * self.strides[3];
            if self.is_packed_at(0) {
                each(start, (blocks * block) as usize);
            } else {
                (0..blocks).for_each(|b| each(start + b * self.strides[0], block as usize));
            }
        }
    }

    /// Whether both layouts, taken in one storage, share at least one byte.
    ///
    /// Exact, except that a pair whose strides differ so wildly that deciding would take more than some ten thousand
    /// comparisons counts as overlapping.
    pub fn overlaps(&self, other: &Layout) -> bool {
        if self.is_empty() || other.is_empty() {
            return false;
        }
        let (a_run, a_levels) = self.runs();
        let (b_run, b_levels) = other.runs();
        let mut budget = 20_000;
        meet(
            Runs { at: self.offset, run: a_run, levels: &a_levels },
            Runs { at: other.offset, run: b_run, levels: &b_levels },
            &mut budget,
        )
    }

    /// Whether every byte of `inner` is a byte of `self`. Sound, not complete: a packed `self`, or an equal layout.
    pub fn contains(&self, inner: &Layout) -> bool {
        if inner.is_empty() || self.same_bytes(inner) {
            return true;
        }
        match (self.runs(), self.range(), inner.range()) {
            ((_, levels), Some(a), Some(b)) if levels.is_empty() => a.start <= b.start && b.end <= a.end,
            _ => false,
        }
    }

    /// Whether every index means the same element in both.
    pub fn same_places(&self, other: &Layout) -> bool {
        let along = |dim: usize| self.shape[dim] <= 1 || self.strides[dim] == other.strides[dim];
        self.dtype == other.dtype
            && self.offset == other.offset
            && self.shape == other.shape
            && (0..4).all(along)
    }

    /// Whether both address the same bytes in the same nesting, whatever their shapes are called.
    pub fn same_bytes(&self, other: &Layout) -> bool {
        let ((a_run, a), (b_run, b)) = (self.runs(), other.runs());
        self.offset == other.offset
            && a_run == b_run
            && a.len() == b.len()
            && a.iter().zip(&b).all(|(x, y)| x.count == y.count && x.stride == y.stride)
    }
}

fn walk(at: u64, run: u64, levels: &[Level], each: &mut impl FnMut(Range<u64>)) {
    match levels.split_last() {
        None => each(at..at + run),
        Some((outer, inner)) => (0..outer.count).for_each(|i| walk(at + i * outer.stride, run, inner, each)),
    }
}

#[derive(Clone, Copy)]
struct Runs<'a> {
    at: u64,
    run: u64,
    levels: &'a [Level],
}

impl Runs<'_> {
    fn extent(&self) -> u64 {
        self.levels.iter().fold(self.run, |n, l| n.saturating_add((l.count - 1).saturating_mul(l.stride)))
    }

    fn bounds_meet(&self, other: &Runs<'_>) -> bool {
        self.at < other.at.saturating_add(other.extent()) && other.at < self.at.saturating_add(self.extent())
    }
}

/// Splits whichever side has the larger outer stride and keeps only the slices that can meet the other side.
fn meet(a: Runs<'_>, b: Runs<'_>, budget: &mut u32) -> bool {
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    if !a.bounds_meet(&b) {
        return false;
    }
    let (a, b) = match (a.levels.last(), b.levels.last()) {
        (None, None) => return true,
        (Some(x), Some(y)) if y.stride > x.stride => (b, a),
        (None, Some(_)) => (b, a),
        _ => (a, b),
    };
    let Some((outer, inner)) = a.levels.split_last() else { return true };
    let slice = |i: u64| Runs { at: a.at + i * outer.stride, run: a.run, levels: inner };
    if let Some((twin, twin_inner)) = b.levels.split_last()
        && twin.stride == outer.stride
        && slice(0).extent() <= outer.stride
        && (Runs { levels: twin_inner, ..b }).extent() <= outer.stride
    {
        return meet_on_one_grid(a, b, budget);
    }
    // Slices whose bounds reach the other side: a contiguous stretch of indices.
    let extent = slice(0).extent();
    let first = b.at.saturating_sub(a.at + extent - 1).div_ceil(outer.stride);
    let last = b.at.saturating_add(b.extent()).saturating_sub(a.at + 1) / outer.stride;
    (first..=last.min(outer.count - 1)).any(|i| meet(slice(i), b, budget))
}

/// Both sides repeat at one stride and neither slice is longer than it: only the relative index matters, and at most three
/// relative indices bring two slices near each other.
fn meet_on_one_grid(a: Runs<'_>, b: Runs<'_>, budget: &mut u32) -> bool {
    let (Some((outer, a_inner)), Some((twin, b_inner))) = (a.levels.split_last(), b.levels.split_last())
    else {
        return true;
    };
    let shift = (b.at as i128 - a.at as i128).div_euclid(outer.stride as i128);
    (shift - 1..=shift + 1).any(|ahead| {
        // Slice i of `a` beside slice i − ahead of `b`; some i must be valid for both.
        let low = ahead.max(0);
        let high = (outer.count as i128 - 1).min(ahead + twin.count as i128 - 1);
        if low > high {
            return false;
        }
        let i = low as u64;
        let j = (low - ahead) as u64;
        meet(
            Runs { at: a.at + i * outer.stride, run: a.run, levels: a_inner },
            Runs { at: b.at + j * twin.stride, run: b.run, levels: b_inner },
            budget,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn layout(shape: [u64; 4], strides: [u64; 4], offset: u64) -> Layout {
        Layout { dtype: DType::F32, shape, strides, offset }
    }

    fn bytes(layout: &Layout) -> HashSet<u64> {
        let mut all = HashSet::new();
        layout.for_each_run(|r| all.extend(r));
        all
    }

    #[test]
    fn heads_of_one_row_do_not_overlap() {
        let q = layout([128, 16, 512, 1], [4, 512, 40960, 20_971_520], 0);
        let k = layout([128, 16, 512, 1], [4, 512, 40960, 20_971_520], 8192);
        let v = layout([128, 48, 512, 1], [4, 512, 40960, 20_971_520], 16384);
        assert!(!q.overlaps(&k) && !k.overlaps(&v) && !q.overlaps(&v));
        let row = layout([10240, 512, 1, 1], [4, 40960, 20_971_520, 20_971_520], 0);
        assert!(row.overlaps(&q) && v.overlaps(&row));
    }

    #[test]
    fn overlap_equals_the_intersection_of_byte_sets() {
        let mut seed = 12345u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..4000 {
            let mut draw = || {
                let shape = [1 + next(3), 1 + next(4), 1 + next(3), 1];
                layout(shape, [4, 4 * (1 + next(5)), 4 * (1 + next(12)), 4], 4 * next(20))
            };
            let (a, b) = (draw(), draw());
            let truth = !bytes(&a).is_disjoint(&bytes(&b));
            assert_eq!(a.overlaps(&b), truth, "{a:?} {b:?}");
            if a.contains(&b) {
                assert!(bytes(&b).is_subset(&bytes(&a)), "{a:?} {b:?}");
            }
        }
    }
    #[test]
    fn a_turned_square_has_the_same_bytes_and_other_places() {
        let square = layout([4, 4, 1, 1], [4, 16, 64, 64], 0);
        let turned = layout([4, 4, 1, 1], [16, 4, 64, 64], 0);
        assert!(square.same_bytes(&turned) && !square.same_places(&turned) && square.same_places(&square));
    }
}
