//! What a product reads and writes.

use std::marker::PhantomData;
use std::ops::Range;

use weft_core::graph::DType;

/// Why a product was not computed. Nothing is written in that case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatmulError {
    /// There is no kernel for weights of this type, or not in this mode.
    #[error("no kernel for weights of type {0}")]
    Type(DType),
    /// Rows must be a multiple of 32 values, and of 256 for K types.
    #[error("rows of {k} values are not a whole number of blocks")]
    RowLength {
        /// Values of a row.
        k: usize,
    },
    /// A slice is too short for the rows or columns that are asked for.
    #[error("{what} hold {got} elements, needed are {want}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The least length.
        want: usize,
    },
}

/// Packed rows of weights as they lie in a file: [k, rows].
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    dtype: DType,
    k: usize,
    row_bytes: usize,
    bytes: &'a [u8],
}

impl<'a> Weights<'a> {
    /// Takes as many whole rows of `k` values as `bytes` hold. The bytes need no alignment.
    ///
    /// # Errors
    /// [`MatmulError::RowLength`].
    pub fn new(dtype: DType, k: usize, bytes: &'a [u8]) -> Result<Self, MatmulError> {
        let row_bytes = dtype.row_bytes(k as u64).and_then(|bytes| usize::try_from(bytes).ok());
        match row_bytes {
            Some(row_bytes) if k > 0 && k.is_multiple_of(32) => Ok(Weights { dtype, k, row_bytes, bytes }),
            _ => Err(MatmulError::RowLength { k }),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Values of a row.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.bytes.len() / self.row_bytes
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Columns of f32 activations: value `i` of column `c` is `values[c · stride + i]`.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// All columns.
    pub values: &'a [f32],
    /// Floats from one column to the next.
    pub stride: usize,
}

/// Some rows of all columns of a result: row `r` of column `c` is `values[c · stride + r]`.
///
/// Parts for several threads are made by [`Output::split_at`].
#[derive(Debug)]
pub struct Output<'a> {
    values: *mut f32,
    stride: usize,
    columns: usize,
    rows: Range<usize>,
    lifetime: PhantomData<&'a mut [f32]>,
}

// SAFETY: an output stands for a mutable borrow of its rows, and two outputs never share a row.
unsafe impl Send for Output<'_> {}

impl<'a> Output<'a> {
    /// All `rows` of `columns` columns, which begin `stride` floats apart.
    ///
    /// # Errors
    /// [`MatmulError::Length`] if `values` is too short or columns would overlap.
    pub fn new(
        values: &'a mut [f32],
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Result<Self, MatmulError> {
        let want = columns.checked_sub(1).and_then(|last| last.checked_mul(stride)?.checked_add(rows));
        let want = if columns == 0 { 0 } else { want.unwrap_or(usize::MAX) };
        if values.len() < want {
            return Err(MatmulError::Length { what: "results", got: values.len(), want });
        }
        if columns > 1 && stride < rows {
            return Err(MatmulError::Length { what: "columns of results", got: stride, want: rows });
        }
        Ok(Output { values: values.as_mut_ptr(), stride, columns, rows: 0..rows, lifetime: PhantomData })
    }

    /// Some rows of columns that begin `stride` floats apart.
    ///
    /// # Safety
    /// For the lifetime `'a` these rows of `columns` columns from `values` on must be writable, and nothing else may
    /// read or write them.
    pub unsafe fn from_raw(values: *mut f32, stride: usize, columns: usize, rows: Range<usize>) -> Self {
        Output { values, stride, columns, rows, lifetime: PhantomData }
    }

    /// The rows before `row` (counted from row 0 of the whole result) and the others. Multiples of
    /// [`super::ROW_TILE`] are best.
    pub fn split_at(self, row: usize) -> (Output<'a>, Output<'a>) {
        let row = row.clamp(self.rows.start, self.rows.end);
        let (first, second) = (self.rows.start..row, row..self.rows.end);
        (Output { rows: first, ..self }, Output { rows: second, ..self })
    }

    /// The rows to be written.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Where `row` of column 0 goes.
    pub(super) fn row(&self, row: usize) -> *mut f32 {
        self.values.wrapping_add(row)
    }
}
