//! Which type each matrix gets.

use weft_core::graph::DType;
use weft_core::quant::block_type;

use super::SynthError;

/// The types of a model's matrices; everything else is F32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    name: &'static str,
    /// What `general.file_type` says.
    file_type: u32,
    /// Most matrices.
    most: DType,
    /// The output head, and in some layers the matrices that suffer most.
    some: DType,
}

const fn row(name: &'static str, file_type: u32, most: DType, some: DType) -> Weights {
    Weights { name, file_type, most, some }
}

const KNOWN: [Weights; 30] = [
    row("F32", 0, DType::F32, DType::F32),
    row("F16", 1, DType::F16, DType::F16),
    row("BF16", 32, DType::BF16, DType::BF16),
    row("Q4_0", 2, DType::Q4_0, DType::Q4_0),
    row("Q4_1", 3, DType::Q4_1, DType::Q4_1),
    row("Q5_0", 8, DType::Q5_0, DType::Q5_0),
    row("Q5_1", 9, DType::Q5_1, DType::Q5_1),
    row("Q8_0", 7, DType::Q8_0, DType::Q8_0),
    row("Q4_K", 14, DType::Q4_K, DType::Q4_K),
    row("Q5_K", 16, DType::Q5_K, DType::Q5_K),
    row("Q6_K", 18, DType::Q6_K, DType::Q6_K),
    row("Q2_K", 10, DType::Q2_K, DType::Q2_K),
    row("Q3_K", 11, DType::Q3_K, DType::Q3_K),
    row("IQ1_S", 24, DType::IQ1_S, DType::IQ1_S),
    row("IQ1_M", 31, DType::IQ1_M, DType::IQ1_M),
    row("IQ2_XXS", 19, DType::IQ2_XXS, DType::IQ2_XXS),
    row("IQ2_XS", 20, DType::IQ2_XS, DType::IQ2_XS),
    row("IQ2_S", 28, DType::IQ2_S, DType::IQ2_S),
    row("IQ3_XXS", 23, DType::IQ3_XXS, DType::IQ3_XXS),
    row("IQ3_S", 26, DType::IQ3_S, DType::IQ3_S),
    row("IQ4_NL", 25, DType::IQ4_NL, DType::IQ4_NL),
    row("IQ4_XS", 30, DType::IQ4_XS, DType::IQ4_XS),
    row("TQ1_0", 36, DType::TQ1_0, DType::TQ1_0),
    row("TQ2_0", 37, DType::TQ2_0, DType::TQ2_0),
    row("MXFP4", 38, DType::MXFP4, DType::MXFP4),
    row("NVFP4", 39, DType::NVFP4, DType::NVFP4),
    row("Q1_0", 40, DType::Q1_0, DType::Q1_0),
    row("Q2_0", 41, DType::Q2_0, DType::Q2_0),
    row("Q4_K_M", 15, DType::Q4_K, DType::Q6_K),
    row("Q5_K_M", 17, DType::Q5_K, DType::Q6_K),
];

/// What a matrix is for, as far as its type depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The output head, or the embedding that serves as one.
    Head,
    /// `attn_v`, `attn_qkv` or `ffn_down` of a layer.
    Sensitive { layer: u32, layers: u32 },
    /// Any other matrix.
    Plain,
}

impl Weights {
    /// The weights of a name: a type such as `Q8_0`, or a mixture such as `Q4_K_M`, in any case.
    ///
    /// # Errors
    /// [`SynthError::Weights`]
    pub fn from_name(name: &str) -> Result<Self, SynthError> {
        KNOWN.into_iter().find(|known| known.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known = KNOWN.map(|known| known.name).join(", ");
            SynthError::Weights { name: name.to_owned(), known }
        })
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn file_type(&self) -> u32 {
        self.file_type
    }

    /// The type of a matrix with rows of `row` values. Rows that are not whole blocks fall back to a type of smaller
    /// blocks, as they do in common quantisers.
    pub(super) fn of(&self, role: Role, row: u64) -> DType {
        let wanted = match role {
            Role::Head => self.some,
            Role::Sensitive { layer, layers } if has_more_bits(layer, layers) => self.some,
            Role::Sensitive { .. } | Role::Plain => self.most,
        };
        let smaller = match wanted {
            DType::Q4_K => DType::Q5_0,
            DType::Q5_K => DType::Q5_1,
            DType::Q6_K => DType::Q8_0,
            DType::TQ1_0 | DType::TQ2_0 => DType::Q4_0,
            few if few.block_values() == 256 => DType::IQ4_NL,
            _ => DType::F16,
        };
        [wanted, smaller, DType::F16]
            .into_iter()
            .find(|dtype| block_type(*dtype).is_some() && row.is_multiple_of(dtype.block_values()))
            .unwrap_or(DType::F32)
    }
}

/// The layers whose sensitive matrices get the better type: the first and the last eighth, and a third of the others.
fn has_more_bits(layer: u32, layers: u32) -> bool {
    let eighth = layers / 8;
    layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2
}
