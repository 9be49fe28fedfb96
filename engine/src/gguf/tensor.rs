//! The tensor table of one file.

use weft_core::graph::DType;

use super::GgufError;
use super::cursor::Cursor;

/// The longest tensor name that GGUF allows, in bytes.
const NAME_LIMIT: u64 = 64;

/// One row of a tensor table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorEntry {
    /// The name, unique in the model.
    pub name: String,
    /// The type of the elements.
    pub dtype: DType,
    /// Extents, innermost first; 1 beyond the dimensions that the file names. None is 0.
    pub shape: [u64; 4],
    /// How many dimensions the file names.
    pub dims: usize,
    /// The file that holds the data: an index among the model's files.
    pub shard: usize,
    /// Where the data starts in that file, in bytes from its beginning.
    pub offset: u64,
    /// How many bytes the data takes.
    pub bytes: u64,
}

impl TensorEntry {
    /// How many elements there are.
    pub fn values(&self) -> u64 {
        // Cannot overflow: `packed_bytes` has checked the product.
        self.shape.iter().product()
    }

    /// The extents that the file names.
    pub fn extents(&self) -> &[u64] {
        &self.shape[..self.dims]
    }

    /// How many bytes one row takes.
    pub fn row_bytes(&self) -> u64 {
        // Never `None`: `packed_bytes` has checked the row.
        self.dtype.row_bytes(self.shape[0]).unwrap_or(0)
    }

    /// Reads row `index` of the table. The offset is still relative to the file's data.
    pub(super) fn read(cursor: &mut Cursor<'_>, index: u64, shard: usize) -> Result<Self, GgufError> {
        let name = cursor.text(NAME_LIMIT, &format_args!("the name of tensor {index}"))?;
        let (file, tensor) = (cursor.file, name);
        let dims = cursor.u32(&format_args!("the dimensions of {name:?}"))?;
        if dims > 4 {
            return Err(GgufError::Dims { file: file.to_owned(), tensor: tensor.to_owned(), dims });
        }
        let mut shape = [1; 4];
        for (dim, out) in shape.iter_mut().take(dims as usize).enumerate() {
            *out = cursor.u64(&format_args!("the dimensions of {name:?}"))?;
            let extent = out.cast_signed();
            if extent <= 0 {
                return Err(GgufError::Extent {
                    file: file.to_owned(),
                    tensor: tensor.to_owned(),
                    dim,
                    extent,
                });
            }
        }
        let id = cursor.u32(&format_args!("the type of {name:?}"))?;
        let dtype = DType::from_gguf(id).ok_or_else(|| GgufError::TensorType {
            file: file.to_owned(),
            tensor: tensor.to_owned(),
            id,
        })?;
        let offset = cursor.u64(&format_args!("the offset of {name:?}"))?;
        let bytes = packed_bytes(file, tensor, dtype, shape)?;
        Ok(Self { name: name.to_owned(), dtype, shape, dims: dims as usize, shard, offset, bytes })
    }
}

/// Bytes of a packed tensor.
pub(super) fn packed_bytes(
    file: &str,
    tensor: &str,
    dtype: DType,
    shape: [u64; 4],
) -> Result<u64, GgufError> {
    let [row, rows @ ..] = shape;
    if !row.is_multiple_of(dtype.block_values()) {
        return Err(GgufError::Ragged { file: file.to_owned(), tensor: tensor.to_owned(), dtype, row });
    }
    let too_large = || GgufError::TooLarge { file: file.to_owned(), tensor: tensor.to_owned(), shape };
    // The number of values must fit as well, for those who multiply the shape themselves.
    shape.iter().try_fold(1u64, |product, extent| product.checked_mul(*extent)).ok_or_else(too_large)?;
    let row_bytes = dtype.row_bytes(row).ok_or_else(too_large)?;
    rows.iter().try_fold(row_bytes, |product, extent| product.checked_mul(*extent)).ok_or_else(too_large)
}
