//! One tensor argument of a kernel.

use crate::graph::DType;
use serde::Serialize;

/// How a kernel uses a port's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads only.
    Read,
    /// Writes every byte, reads none.
    Write,
    /// Reads and writes; bytes it does not touch keep their value.
    Update,
}

impl Access {
    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Update => "update",
        }
    }

    /// Whether bytes are written.
    pub const fn writes(self) -> bool {
        !matches!(self, Access::Read)
    }

    /// Whether bytes are read.
    pub const fn reads(self) -> bool {
        !matches!(self, Access::Write)
    }
}

/// What an extent must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Anything; the operation's shape rule has already judged it.
    Any,
    /// Exactly this.
    Is(u64),
    /// A named extent: equal wherever the name occurs.
    Named(&'static str),
    /// Divides a named extent: the port is repeated to it.
    Repeats(&'static str),
    /// The product of two named extents.
    Product(&'static str, &'static str),
    /// At least the named extent.
    AtLeast(&'static str),
}

/// What the stride of a dimension must be. Strides of extents of 1, of rows of one block and of tensors
/// without elements are never used, so never refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stride {
    /// As in a packed tensor: no gap to the dimensions below.
    Packed,
    /// At least as in a packed tensor: rows do not overlap.
    AtLeastPacked,
    /// A multiple of this many bytes.
    MultipleOf(u64),
    /// Between these many bytes, both included.
    Between(u64, u64),
    /// Anything, 0 (one row seen many times) included.
    Any,
}

/// One tensor argument.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Port {
    /// Its name, unique in the contract.
    pub name: &'static str,
    /// How its bytes are used.
    pub access: Access,
    /// Element types it takes.
    pub dtypes: &'static [DType],
    /// Extents, innermost first.
    pub shape: [Extent; 4],
    /// Strides, innermost first.
    pub strides: [Stride; 4],
    /// Offset and strides must be multiples of this many bytes; the steps inside packed rows need not.
    pub alignment: u64,
    /// Whether it may be left unbound.
    pub optional: bool,
}

/// Types that any plain reader of weights takes: every type that weft can decode.
pub const ANY_WEIGHT: &[DType] = &joined::<{ COMMON.len() + FEW_BITS.len() }>(COMMON, FEW_BITS);
/// Quantised types: those of several values in a block.
pub const BLOCKS: &[DType] = &joined::<{ LINES.len() + FEW_BITS.len() }>(LINES, FEW_BITS);
/// Types that products are tuned for in every form: floats, and blocks of values on lines.
pub const COMMON: &[DType] = &joined::<{ FLOATS.len() + LINES.len() }>(FLOATS, LINES);
/// Quantised types of evenly spaced levels, four bits and more.
const LINES: &[DType] =
    &[DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1, DType::Q8_0, DType::Q4_K, DType::Q5_K, DType::Q6_K];
/// Quantised types of few bits or uneven levels. Every sixteen values of a block have one step.
pub const FEW_BITS: &[DType] = &[
    DType::Q2_K,
    DType::Q3_K,
    DType::IQ1_S,
    DType::IQ1_M,
    DType::IQ2_XXS,
    DType::IQ2_XS,
    DType::IQ2_S,
    DType::IQ3_XXS,
    DType::IQ3_S,
    DType::IQ4_NL,
    DType::IQ4_XS,
    DType::TQ1_0,
    DType::TQ2_0,
    DType::MXFP4,
    DType::NVFP4,
    DType::Q1_0,
    DType::Q2_0,
];
/// Plain floating-point types.
pub const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16];
/// f32 alone.
pub const F32: &[DType] = &[DType::F32];
/// Row and expert indices.
pub const INDICES: &[DType] = &[DType::I32, DType::I64];
/// i32 alone.
pub const I32: &[DType] = &[DType::I32];
/// Types of key and value caches, and of any tensor that rows may be written to.
pub const CACHE: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0];

/// Weights, and i32 for tables of indices.
pub const READABLE: &[DType] = &joined::<{ I32.len() + ANY_WEIGHT.len() }>(I32, ANY_WEIGHT);
/// Types that rows may be written as, and i32.
pub const WRITABLE: &[DType] = &joined::<{ I32.len() + CACHE.len() }>(I32, CACHE);

/// Two lists, one behind the other.
const fn joined<const N: usize>(first: &[DType], second: &[DType]) -> [DType; N] {
    let mut all = [DType::I32; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

impl Port {
    const fn new(name: &'static str, access: Access, dtypes: &'static [DType]) -> Self {
        Port {
            name,
            access,
            dtypes,
            shape: [Extent::Any; 4],
            strides: [Stride::Any; 4],
            alignment: 1,
            optional: false,
        }
    }

    /// A port that is read.
    pub const fn read(name: &'static str, dtypes: &'static [DType]) -> Self {
        Self::new(name, Access::Read, dtypes)
    }

    /// A port that is written whole. Its rows may not overlap each other.
    pub const fn write(name: &'static str, dtypes: &'static [DType]) -> Self {
        let mut port = Self::new(name, Access::Write, dtypes);
        port.strides =
            [Stride::AtLeastPacked, Stride::AtLeastPacked, Stride::AtLeastPacked, Stride::AtLeastPacked];
        port
    }

    /// A port that is read and written.
    pub const fn update(name: &'static str, dtypes: &'static [DType]) -> Self {
        let mut port = Self::write(name, dtypes);
        port.access = Access::Update;
        port
    }

    /// With these extents.
    pub const fn shape(mut self, shape: [Extent; 4]) -> Self {
        self.shape = shape;
        self
    }

    /// With these strides.
    pub const fn strides(mut self, strides: [Stride; 4]) -> Self {
        self.strides = strides;
        self
    }

    /// Packed in every dimension.
    pub const fn packed(self) -> Self {
        self.strides([Stride::Packed; 4])
    }

    /// With packed rows at any distance that does not overlap.
    pub const fn packed_rows(self) -> Self {
        self.strides([Stride::Packed, Stride::AtLeastPacked, Stride::AtLeastPacked, Stride::AtLeastPacked])
    }

    /// With an offset and strides that are multiples of this many bytes.
    pub const fn aligned(mut self, bytes: u64) -> Self {
        self.alignment = bytes;
        self
    }

    /// May be left unbound.
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}
