//! Operands as kernels see them: a pointer to the storage and a layout.

use half::f16;
use weft_core::graph::{DType, Layout};
use weft_core::kernels::KernelError;
use weft_core::segment::{SEGMENT_WORDS, Segment};

/// One operand. The layout was checked against the storage's size when the program was compiled.
#[derive(Clone, Copy)]
pub(crate) struct View {
    /// Port name.
    pub name: &'static str,
    /// Start of the storage.
    pub base: *mut u8,
    /// Bytes of the storage.
    pub bytes: usize,
    /// Where the elements lie.
    pub layout: Layout,
}

// SAFETY: a view is a pointer into memory that the program keeps alive; phases order its uses.
unsafe impl Send for View {}
// SAFETY: as for `Send`.
unsafe impl Sync for View {}

impl View {
    pub(crate) fn shape(&self) -> [usize; 4] {
        self.layout.shape.map(|n| n as usize)
    }

    pub(crate) fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// The address of an element; of its block for quantised types, whose innermost index counts blocks.
    pub(crate) fn at(&self, index: [usize; 4]) -> *mut u8 {
        let steps: u64 = index.iter().zip(self.layout.strides).map(|(i, s)| *i as u64 * s).sum();
        self.base.wrapping_add((self.layout.offset + steps) as usize)
    }

    /// One f32.
    ///
    /// # Safety
    /// The type is f32, the index lies inside, and nobody writes it now.
    pub(crate) unsafe fn f32(&self, index: [usize; 4]) -> f32 {
        // SAFETY: by the caller's word; storages and strides keep f32 aligned or the read is unaligned.
        unsafe { self.at(index).cast::<f32>().read_unaligned() }
    }

    /// A row of packed f32.
    ///
    /// # Safety
    /// The type is f32, rows are packed and aligned, the index lies inside, and nobody writes the row now.
    pub(crate) unsafe fn row<'a>(&self, outer: [usize; 3]) -> &'a [f32] {
        let [i1, i2, i3] = outer;
        // SAFETY: by the caller's word.
        unsafe { std::slice::from_raw_parts(self.at([0, i1, i2, i3]).cast(), self.layout.shape[0] as usize) }
    }

    /// A row of packed f32 to be written.
    ///
    /// # Safety
    /// As [`View::row`], and nobody else reads or writes the row now.
    pub(crate) unsafe fn row_mut<'a>(&self, outer: [usize; 3]) -> &'a mut [f32] {
        let [i1, i2, i3] = outer;
        // SAFETY: by the caller's word.
        unsafe {
            std::slice::from_raw_parts_mut(self.at([0, i1, i2, i3]).cast(), self.layout.shape[0] as usize)
        }
    }

    /// A row of packed halves.
    ///
    /// # Safety
    /// As [`View::row`], for f16.
    pub(crate) unsafe fn row_half<'a>(&self, outer: [usize; 3]) -> &'a [f16] {
        let [i1, i2, i3] = outer;
        // SAFETY: by the caller's word.
        unsafe { std::slice::from_raw_parts(self.at([0, i1, i2, i3]).cast(), self.layout.shape[0] as usize) }
    }

    /// The bytes of a packed row of any type.
    ///
    /// # Safety
    /// Rows are packed, the index lies inside, and nobody writes the row now.
    pub(crate) unsafe fn row_bytes<'a>(&self, outer: [usize; 3]) -> &'a [u8] {
        let [i1, i2, i3] = outer;
        let blocks = self.layout.shape[0] / self.layout.dtype.block_values();
        let bytes = (blocks * self.layout.dtype.block_bytes()) as usize;
        // SAFETY: by the caller's word.
        unsafe { std::slice::from_raw_parts(self.at([0, i1, i2, i3]), bytes) }
    }

    /// One index, i32 or i64.
    ///
    /// # Safety
    /// The index lies inside, and nobody writes it now.
    pub(crate) unsafe fn index(&self, index: [usize; 4]) -> i64 {
        let at = self.at(index);
        // SAFETY: by the caller's word.
        unsafe {
            match self.layout.dtype {
                DType::I64 => at.cast::<i64>().read_unaligned(),
                _ => i64::from(at.cast::<i32>().read_unaligned()),
            }
        }
    }

    /// One index below a limit.
    ///
    /// # Safety
    /// As [`View::index`].
    pub(crate) unsafe fn index_below(&self, index: [usize; 4], limit: u64) -> Result<usize, KernelError> {
        // SAFETY: by the caller's word.
        let got = unsafe { self.index(index) };
        let fits = u64::try_from(got).ok().filter(|i| *i < limit);
        fits.map(|i| i as usize).ok_or(KernelError::Index { port: self.name, got, limit })
    }

    /// The used segments of a table, checked against the rows of the ubatch and the slots of a pool.
    ///
    /// # Safety
    /// The view is a segment table that nobody writes now.
    pub(crate) unsafe fn segments(
        &self,
        rows: usize,
        slots: usize,
        into: &mut Vec<Segment>,
    ) -> Result<(), KernelError> {
        into.clear();
        for s in 0..self.shape()[1] {
            // SAFETY: by the caller's word.
            let words =
                std::array::from_fn::<i32, SEGMENT_WORDS, _>(|w| unsafe { self.index([w, s, 0, 0]) } as i32);
            let segment = Segment::from_words(words);
            if segment.count == 0 {
                continue;
            }
            let end = u64::from(segment.row) + u64::from(segment.count);
            if end > rows as u64 {
                return Err(KernelError::Index { port: self.name, got: end as i64, limit: rows as u64 });
            }
            if segment.slot as usize >= slots {
                return Err(KernelError::Index {
                    port: self.name,
                    got: i64::from(segment.slot),
                    limit: slots as u64,
                });
            }
            into.push(segment);
        }
        Ok(())
    }

    /// The outer indices of a row by its number.
    pub(crate) fn outer(&self, row: usize) -> [usize; 3] {
        let [_, n1, n2, _] = self.shape();
        [row % n1, row / n1 % n2, row / (n1 * n2)]
    }

    /// The outer indices at which a repeated operand supplies a row of a larger one.
    pub(crate) fn repeated(&self, outer: [usize; 3]) -> [usize; 3] {
        let shape = self.shape();
        std::array::from_fn(|d| outer[d] % shape[d + 1].max(1))
    }
}
