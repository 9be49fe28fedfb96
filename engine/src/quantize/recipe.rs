//! Which type each tensor gets: the mixtures by their usual names.

use weft_core::graph::DType;
use weft_core::quant::block_type;

use super::QuantizeError;

/// What a matrix is for, as far as its type depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The output head, or the embedding that serves as one.
    Head,
    /// `attn_v` or `attn_qkv`: the `at`-th of `of` in the order of layers.
    Value { at: u64, of: u64 },
    /// `ffn_down` and its kin, in layer `at` of `of`.
    Down { at: u64, of: u64 },
    /// `attn_output`.
    AttentionOutput,
    /// Any other matrix.
    Plain,
}

/// Layers in which a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layers {
    All,
    /// So many from the first one on.
    First(u64),
    /// The first of so many parts of all layers.
    FirstPart(u64),
    /// The first and the last eighth, and each third of the others.
    Outer,
}

impl Layers {
    fn hold(self, at: u64, of: u64) -> bool {
        match self {
            Layers::All => true,
            Layers::First(count) => at < count,
            Layers::FirstPart(parts) => at < of / parts,
            Layers::Outer => at < of / 8 || at >= 7 * of / 8 || (at - of / 8) % 3 == 2,
        }
    }
}

/// The types of a model's matrices by the name of a type or a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    name: &'static str,
    file_type: u32,
    most: DType,
    head: DType,
    value: &'static [(Layers, DType)],
    down: &'static [(Layers, DType)],
    attention_output: Option<DType>,
}

/// One type throughout, the head in Q6_K.
const fn one(name: &'static str, file_type: u32, most: DType) -> Recipe {
    Recipe { name, file_type, most, head: DType::Q6_K, value: &[], down: &[], attention_output: None }
}

/// One type throughout, the head too.
const fn pure(name: &'static str, file_type: u32, most: DType) -> Recipe {
    Recipe { head: most, ..one(name, file_type, most) }
}

/// Better types in some layers.
const fn mixed(
    recipe: Recipe,
    value: &'static [(Layers, DType)],
    down: &'static [(Layers, DType)],
) -> Recipe {
    Recipe { value, down, ..recipe }
}

const OUTER_Q6: &[(Layers, DType)] = &[(Layers::Outer, DType::Q6_K)];
const ALL_Q3: &[(Layers, DType)] = &[(Layers::All, DType::Q3_K)];
const ALL_Q5: &[(Layers, DType)] = &[(Layers::All, DType::Q5_K)];

const KNOWN: [Recipe; 25] = [
    pure("F32", 0, DType::F32),
    pure("F16", 1, DType::F16),
    pure("BF16", 32, DType::BF16),
    pure("Q8_0", 7, DType::Q8_0),
    one("Q4_0", 2, DType::Q4_0),
    one("Q4_1", 3, DType::Q4_1),
    one("Q5_0", 8, DType::Q5_0),
    one("Q5_1", 9, DType::Q5_1),
    Recipe { attention_output: Some(DType::Q3_K), ..mixed(one("Q2_K", 10, DType::Q2_K), ALL_Q3, ALL_Q3) },
    one("Q3_K_S", 11, DType::Q3_K),
    Recipe {
        attention_output: Some(DType::Q4_K),
        ..mixed(
            one("Q3_K_M", 12, DType::Q3_K),
            &[(Layers::First(2), DType::Q5_K), (Layers::All, DType::Q4_K)],
            &[(Layers::FirstPart(16), DType::Q5_K), (Layers::All, DType::Q4_K)],
        )
    },
    Recipe { attention_output: Some(DType::Q5_K), ..mixed(one("Q3_K_L", 13, DType::Q3_K), ALL_Q5, ALL_Q5) },
    mixed(
        one("Q4_K_S", 14, DType::Q4_K),
        &[(Layers::First(4), DType::Q5_K)],
        &[(Layers::FirstPart(8), DType::Q5_K)],
    ),
    mixed(one("Q4_K_M", 15, DType::Q4_K), OUTER_Q6, OUTER_Q6),
    one("Q5_K_S", 16, DType::Q5_K),
    mixed(one("Q5_K_M", 17, DType::Q5_K), OUTER_Q6, OUTER_Q6),
    one("Q6_K", 18, DType::Q6_K),
    one("IQ4_NL", 25, DType::IQ4_NL),
    one("IQ4_XS", 30, DType::IQ4_XS),
    one("IQ3_S", 26, DType::IQ3_S),
    one("TQ1_0", 36, DType::TQ1_0),
    one("TQ2_0", 37, DType::TQ2_0),
    one("NVFP4", 39, DType::NVFP4),
    one("Q1_0", 40, DType::Q1_0),
    one("Q2_0", 41, DType::Q2_0),
];

/// Short names of mixtures.
const ALIASES: [(&str, &str); 3] = [("Q3_K", "Q3_K_M"), ("Q4_K", "Q4_K_M"), ("Q5_K", "Q5_K_M")];

impl Recipe {
    /// The recipe of a name such as `Q8_0` or `Q4_K_M`, in any case.
    ///
    /// # Errors
    /// [`QuantizeError::Type`], also where weft has no encoder for one of its types.
    pub fn from_name(name: &str) -> Result<Self, QuantizeError> {
        let alias = ALIASES.iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
        let full = alias.map_or(name, |(_, full)| full);
        let mut possible = KNOWN.into_iter().filter(Self::can_be_encoded);
        possible
            .find(|known| known.name.eq_ignore_ascii_case(full))
            .ok_or_else(|| QuantizeError::Type { name: name.to_owned(), known: Self::names().join(", ") })
    }

    /// The names of all recipes whose types weft can encode.
    pub fn names() -> Vec<&'static str> {
        KNOWN.iter().filter(|known| known.can_be_encoded()).map(|known| known.name).collect()
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn file_type(&self) -> u32 {
        self.file_type
    }

    /// The same type for every matrix, embedding and head included.
    pub fn pure(self) -> Self {
        pure(self.name, self.file_type, self.most)
    }

    fn can_be_encoded(&self) -> bool {
        let better = self.value.iter().chain(self.down).map(|rule| rule.1);
        let types = better.chain([self.most, self.head]).chain(self.attention_output);
        types.into_iter().all(|dtype| block_type(dtype).is_some())
    }

    /// The type that a matrix should have, whatever the length of its rows.
    pub(super) fn of(&self, part: Part) -> DType {
        let first = |rules: &[(Layers, DType)], at, of| {
            rules.iter().find(|(layers, _)| layers.hold(at, of)).map_or(self.most, |rule| rule.1)
        };
        match part {
            Part::Head => self.head,
            Part::Value { at, of } => first(self.value, at, of),
            Part::Down { at, of } => first(self.down, at, of),
            Part::AttentionOutput => self.attention_output.unwrap_or(self.most),
            Part::Plain => self.most,
        }
    }
}

/// The type of smaller blocks that takes the place of one whose blocks do not fit rows of `row` values; half floats
/// where none does.
pub(super) fn fitting(wanted: DType, row: u64) -> DType {
    let smaller = match wanted {
        DType::Q4_K => DType::Q5_0,
        DType::Q5_K => DType::Q5_1,
        DType::Q6_K => DType::Q8_0,
        DType::TQ1_0 | DType::TQ2_0 => DType::Q4_0,
        few if few.block_values() == 256 => DType::IQ4_NL,
        _ => DType::F16,
    };
    let fits = |dtype: &DType| row.is_multiple_of(dtype.block_values()) && block_type(*dtype).is_some();
    [wanted, smaller].into_iter().find(fits).unwrap_or(DType::F16)
}
