//! Which type each tensor gets: the mixtures by their usual names.

use weft_core::graph::DType;

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
    /// The embedding where there is a head beside it.
    Embedding,
    /// Any other matrix.
    Plain,
}

/// What else decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Four heads of queries or more share one of keys.
    pub grouped: bool,
    /// There is an importance matrix.
    pub weighed: bool,
    /// The tensor holds several matrices, one for each expert.
    pub experts: bool,
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
    /// All, where heads are [`Facts::grouped`].
    Grouped,
    /// The first eighth, with an importance matrix, or without one.
    Eighth {
        weighed: bool,
    },
}

impl Layers {
    fn hold(self, at: u64, of: u64, facts: Facts) -> bool {
        match self {
            Layers::All => true,
            Layers::First(count) => at < count,
            Layers::FirstPart(parts) => at < of / parts,
            Layers::Grouped => facts.grouped,
            Layers::Eighth { weighed } => facts.weighed == weighed && at < of / 8,
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
    embedding: Option<DType>,
    /// That of all matrices but the experts'.
    dense: Option<DType>,
}

/// One type throughout, the head in Q6_K.
const fn one(name: &'static str, file_type: u32, most: DType) -> Recipe {
    Recipe {
        name,
        file_type,
        most,
        head: DType::Q6_K,
        value: &[],
        down: &[],
        attention_output: None,
        embedding: None,
        dense: None,
    }
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
const GROUPED_Q4: (Layers, DType) = (Layers::Grouped, DType::Q4_K);
const GROUPED_Q5: &[(Layers, DType)] = &[(Layers::Grouped, DType::Q5_K)];
const EIGHTH_Q4: &[(Layers, DType)] = &[(Layers::FirstPart(8), DType::Q4_K)];
const EIGHTH_Q5: &[(Layers, DType)] = &[(Layers::Eighth { weighed: false }, DType::Q5_K)];

const KNOWN: [Recipe; 28] = [
    pure("F32", 0, DType::F32),
    pure("F16", 1, DType::F16),
    pure("BF16", 32, DType::BF16),
    pure("Q8_0", 7, DType::Q8_0),
    mixed(one("Q4_0", 2, DType::Q4_0), &[], &[(Layers::Eighth { weighed: true }, DType::Q4_1)]),
    one("Q4_1", 3, DType::Q4_1),
    mixed(one("Q5_0", 8, DType::Q5_0), &[], &[(Layers::Eighth { weighed: true }, DType::Q5_1)]),
    one("Q5_1", 9, DType::Q5_1),
    Recipe {
        attention_output: Some(DType::Q3_K),
        ..mixed(one("Q2_K", 10, DType::Q2_K), &[GROUPED_Q4, (Layers::All, DType::Q3_K)], ALL_Q3)
    },
    mixed(one("Q2_K_S", 21, DType::Q2_K), &[GROUPED_Q4], EIGHTH_Q4),
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
    mixed(one("IQ4_NL", 25, DType::IQ4_NL), GROUPED_Q5, EIGHTH_Q5),
    mixed(one("IQ4_XS", 30, DType::IQ4_XS), GROUPED_Q5, EIGHTH_Q5),
    mixed(one("IQ3_S", 26, DType::IQ3_S), &[GROUPED_Q4], &[]),
    Recipe {
        attention_output: Some(DType::Q4_K),
        ..mixed(one("IQ3_M", 27, DType::IQ3_S), &[(Layers::All, DType::Q4_K)], EIGHTH_Q4)
    },
    Recipe { head: DType::Q8_0, dense: Some(DType::Q8_0), ..one("MXFP4_MOE", 38, DType::MXFP4) },
    Recipe { embedding: Some(DType::Q4_K), ..one("TQ1_0", 36, DType::TQ1_0) },
    Recipe { embedding: Some(DType::Q4_K), ..one("TQ2_0", 37, DType::TQ2_0) },
    one("NVFP4", 39, DType::NVFP4),
    one("Q1_0", 40, DType::Q1_0),
    Recipe { embedding: Some(DType::Q4_K), ..one("Q2_0", 41, DType::Q2_0) },
];

/// Short names of mixtures.
const ALIASES: [(&str, &str); 4] =
    [("Q3_K", "Q3_K_M"), ("Q4_K", "Q4_K_M"), ("Q5_K", "Q5_K_M"), ("MXFP4", "MXFP4_MOE")];

impl Recipe {
    /// The recipe of a name such as `Q8_0` or `Q4_K_M`, in any case.
    ///
    /// # Errors
    /// [`QuantizeError::Type`]
    pub fn from_name(name: &str) -> Result<Self, QuantizeError> {
        let alias = ALIASES.iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
        let full = alias.map_or(name, |(_, full)| full);
        KNOWN
            .into_iter()
            .find(|known| known.name.eq_ignore_ascii_case(full))
            .ok_or_else(|| QuantizeError::Type { name: name.to_owned(), known: Self::names().join(", ") })
    }

    /// The names of all recipes.
    pub fn names() -> Vec<&'static str> {
        KNOWN.iter().map(|known| known.name).collect()
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

    /// The type that a matrix should have, whatever the length of its rows.
    pub(super) fn of(&self, part: Part, facts: Facts) -> DType {
        let first = |rules: &[(Layers, DType)], at, of| {
            rules.iter().find(|(layers, _)| layers.hold(at, of, facts)).map_or(self.most, |rule| rule.1)
        };
        if let Some(dense) = self.dense.filter(|_| !facts.experts) {
            return dense;
        }
        match part {
            Part::Head => self.head,
            Part::Value { at, of } => first(self.value, at, of),
            Part::Down { at, of } => first(self.down, at, of),
            Part::AttentionOutput => self.attention_output.unwrap_or(self.most),
            Part::Embedding => self.embedding.unwrap_or(self.most),
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
        DType::Q2_K | DType::Q3_K | DType::TQ1_0 | DType::TQ2_0 => DType::Q4_0,
        few if few.block_values() == 256 => DType::IQ4_NL,
        _ => DType::F16,
    };
    let fits = |dtype: &DType| row.is_multiple_of(dtype.block_values());
    [wanted, smaller].into_iter().find(fits).unwrap_or(DType::F16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Facts = Facts { grouped: false, weighed: false, experts: false };

    fn of(name: &str, part: Part, facts: Facts) -> DType {
        Recipe::from_name(name).unwrap().of(part, facts)
    }

    #[test]
    fn heads_that_share_keys_get_better_values() {
        let value = Part::Value { at: 5, of: 8 };
        let grouped = Facts { grouped: true, ..PLAIN };
        for (name, plain, better) in [
            ("Q2_K", DType::Q3_K, DType::Q4_K),
            ("Q2_K_S", DType::Q2_K, DType::Q4_K),
            ("IQ4_XS", DType::IQ4_XS, DType::Q5_K),
            ("IQ3_S", DType::IQ3_S, DType::Q4_K),
            ("Q4_K_S", DType::Q4_K, DType::Q4_K),
        ] {
            assert_eq!([of(name, value, PLAIN), of(name, value, grouped)], [plain, better], "{name}");
        }
    }

    #[test]
    fn the_first_eighth_depends_on_an_importance_matrix() {
        let weighed = Facts { weighed: true, ..PLAIN };
        let down = |at| Part::Down { at, of: 16 };
        for (name, plain, other) in [("Q4_0", DType::Q4_0, DType::Q4_1), ("Q5_0", DType::Q5_0, DType::Q5_1)] {
            assert_eq!([of(name, down(1), PLAIN), of(name, down(1), weighed)], [plain, other], "{name}");
            assert_eq!(of(name, down(2), weighed), plain, "{name}");
        }
        let iq4 = |facts| of("IQ4_NL", down(0), facts);
        assert_eq!([iq4(PLAIN), iq4(weighed)], [DType::Q5_K, DType::IQ4_NL]);
    }

    #[test]
    fn only_experts_get_four_bit_floats() {
        let experts = Facts { experts: true, ..PLAIN };
        assert_eq!(of("MXFP4", Part::Plain, experts), DType::MXFP4);
        assert_eq!(of("mxfp4_moe", Part::Plain, PLAIN), DType::Q8_0);
        assert_eq!(Recipe::from_name("MXFP4").unwrap().pure().of(Part::Plain, PLAIN), DType::MXFP4);
    }
}
