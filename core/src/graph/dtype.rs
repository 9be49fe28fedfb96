//! Element types: plain numbers and quantised blocks.
//!
//! One table, [`TYPES`], holds what every other place needs: the name, the GGUF id, and how many values and bytes one
//! block holds. Plain types are blocks of one value.

use serde::{Deserialize, Serialize};

/// The type of a tensor's elements. Variant names are those of GGUF.
#[expect(missing_docs, reason = "the variants are the GGUF type names; `TYPES` describes each")]
#[expect(non_camel_case_types, reason = "GGUF type names carry underscores")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DType {
    F32,
    F16,
    BF16,
    F64,
    I8,
    I16,
    I32,
    I64,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ1_S,
    IQ1_M,
    IQ2_XXS,
    IQ2_XS,
    IQ2_S,
    IQ3_XXS,
    IQ3_S,
    IQ4_NL,
    IQ4_XS,
    TQ1_0,
    TQ2_0,
    MXFP4,
    NVFP4,
    Q1_0,
    Q2_0,
}

/// One row of [`TYPES`].
#[derive(Clone, Copy, Debug)]
pub struct TypeRow {
    /// The type that the row describes.
    pub dtype: DType,
    /// Its name in files and reports.
    pub name: &'static str,
    /// Its id in GGUF tensor tables.
    pub gguf: u32,
    /// Values in one block; 1 for plain types.
    pub values: u64,
    /// Bytes of one block.
    pub bytes: u64,
}

const fn row(dtype: DType, name: &'static str, gguf: u32, values: u64, bytes: u64) -> TypeRow {
    TypeRow { dtype, name, gguf, values, bytes }
}

/// Every element type, in the order of the enum.
pub const TYPES: [TypeRow; 33] = [
    row(DType::F32, "F32", 0, 1, 4),
    row(DType::F16, "F16", 1, 1, 2),
    row(DType::BF16, "BF16", 30, 1, 2),
    row(DType::F64, "F64", 28, 1, 8),
    row(DType::I8, "I8", 24, 1, 1),
    row(DType::I16, "I16", 25, 1, 2),
    row(DType::I32, "I32", 26, 1, 4),
    row(DType::I64, "I64", 27, 1, 8),
    row(DType::Q4_0, "Q4_0", 2, 32, 18),
    row(DType::Q4_1, "Q4_1", 3, 32, 20),
    row(DType::Q5_0, "Q5_0", 6, 32, 22),
    row(DType::Q5_1, "Q5_1", 7, 32, 24),
    row(DType::Q8_0, "Q8_0", 8, 32, 34),
    row(DType::Q2_K, "Q2_K", 10, 256, 84),
    row(DType::Q3_K, "Q3_K", 11, 256, 110),
    row(DType::Q4_K, "Q4_K", 12, 256, 144),
    row(DType::Q5_K, "Q5_K", 13, 256, 176),
    row(DType::Q6_K, "Q6_K", 14, 256, 210),
    row(DType::IQ1_S, "IQ1_S", 19, 256, 50),
    row(DType::IQ1_M, "IQ1_M", 29, 256, 56),
    row(DType::IQ2_XXS, "IQ2_XXS", 16, 256, 66),
    row(DType::IQ2_XS, "IQ2_XS", 17, 256, 74),
    row(DType::IQ2_S, "IQ2_S", 22, 256, 82),
    row(DType::IQ3_XXS, "IQ3_XXS", 18, 256, 98),
    row(DType::IQ3_S, "IQ3_S", 21, 256, 110),
    row(DType::IQ4_NL, "IQ4_NL", 20, 32, 18),
    row(DType::IQ4_XS, "IQ4_XS", 23, 256, 136),
    row(DType::TQ1_0, "TQ1_0", 34, 256, 54),
    row(DType::TQ2_0, "TQ2_0", 35, 256, 66),
    row(DType::MXFP4, "MXFP4", 39, 32, 17),
    row(DType::NVFP4, "NVFP4", 40, 64, 36),
    row(DType::Q1_0, "Q1_0", 41, 128, 18),
    row(DType::Q2_0, "Q2_0", 42, 64, 18),
];

impl DType {
    /// The type's row of [`TYPES`].
    pub const fn row(self) -> &'static TypeRow {
        &TYPES[self as usize]
    }

    /// The type of a GGUF id, if it is a known one.
    pub fn from_gguf(id: u32) -> Option<Self> {
        TYPES.iter().find(|t| t.gguf == id).map(|t| t.dtype)
    }

    /// The type of a name such as `Q4_K`, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        TYPES.iter().find(|t| t.name.eq_ignore_ascii_case(name)).map(|t| t.dtype)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes of one block; of one element for plain types.
    pub const fn block_bytes(self) -> u64 {
        self.row().bytes
    }

    /// Values in one block; 1 for plain types.
    pub const fn block_values(self) -> u64 {
        self.row().values
    }

    /// Whether one block holds more than one value.
    pub const fn is_quantised(self) -> bool {
        self.block_values() > 1
    }

    /// Whether the type is one of the plain floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::BF16 | DType::F64)
    }

    /// Bytes of a packed row of `values` elements. `None` if the row is not a whole number of blocks or too long.
    pub const fn row_bytes(self, values: u64) -> Option<u64> {
        let row = self.row();
        if !values.is_multiple_of(row.values) {
            return None;
        }
        (values / row.values).checked_mul(row.bytes)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_own_index() {
        for (index, row) in TYPES.iter().enumerate() {
            assert_eq!(row.dtype as usize, index, "{}", row.name);
            assert_eq!(DType::from_gguf(row.gguf), Some(row.dtype));
            assert_eq!(DType::from_name(row.name), Some(row.dtype));
        }
    }
}
