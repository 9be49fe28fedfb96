//! What to make: architecture, shape, weight types, seed.

use super::qwen4exp::{Extras, FLASH, TINY};
use super::{SynthError, Weights};

/// The architectures that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynthArch {
    /// Gated-DeltaNet layers with a gated attention layer after every few of them.
    Qwen35,
    /// The same with a mixture of experts.
    Qwen35Moe,
    /// The same with value heads in groups, and strength and decay in one matrix.
    Qwen3Next,
    /// Those with experts on several residual streams, with n-grams and attention that chooses blocks.
    Qwen4Exp,
    /// Attention layers with normed queries and keys.
    Qwen3,
    /// The same with a mixture of experts.
    Qwen3Moe,
    /// Attention layers with biases.
    Qwen2,
    /// Plain attention layers.
    Llama,
}

impl SynthArch {
    /// All of them, by name.
    const ALL: [(Self, &str); 8] = [
        (Self::Qwen35, "qwen35"),
        (Self::Qwen35Moe, "qwen35moe"),
        (Self::Qwen3Next, "qwen3next"),
        (Self::Qwen4Exp, "qwen4exp"),
        (Self::Qwen3, "qwen3"),
        (Self::Qwen3Moe, "qwen3moe"),
        (Self::Qwen2, "qwen2"),
        (Self::Llama, "llama"),
    ];

    /// The architecture of a name such as `qwen35`.
    ///
    /// # Errors
    /// [`SynthError::Arch`]
    pub fn from_name(name: &str) -> Result<Self, SynthError> {
        Self::ALL.into_iter().find(|known| known.1 == name).map(|known| known.0).ok_or_else(|| {
            let known = Self::ALL.map(|known| known.1).join(", ");
            SynthError::Arch { name: name.to_owned(), known }
        })
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|known| known.0 == self).map_or("", |known| known.1)
    }

    /// Whether it has recurrent layers.
    pub const fn is_hybrid(self) -> bool {
        matches!(self, Self::Qwen35 | Self::Qwen35Moe | Self::Qwen3Next | Self::Qwen4Exp)
    }
}

/// A mixture of experts in the place of feed-forward networks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experts {
    /// How many there are.
    pub count: u32,
    /// How many a token uses.
    pub used: u32,
    /// Inner width of each.
    pub inner: u32,
    /// Inner width of the expert that all tokens use; 0 without one.
    pub shared: u32,
}

/// Extents of a model. The fields that only hybrids have are not read for the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Width of the residual stream.
    pub embedding: u32,
    /// Layers, a draft layer aside.
    pub layers: u32,
    /// Inner width of the feed-forward network. Not read where there are experts.
    pub feed_forward: u32,
    /// The mixture of experts, in architectures that have one.
    pub experts: Option<Experts>,
    /// Query heads of attention layers.
    pub heads: u32,
    /// Key and value heads of attention layers.
    pub kv_heads: u32,
    /// Width of those heads.
    pub head_width: u32,
    /// How much of a head is rotated.
    pub rope_width: u32,
    /// Rows of the embedding: tokens and padding.
    pub vocabulary: u32,
    /// Whether the output head is the embedding.
    pub tied: bool,
    /// Key heads of delta layers.
    pub key_heads: u32,
    /// Value heads of delta layers.
    pub value_heads: u32,
    /// Width of the heads of delta layers.
    pub state_width: u32,
    /// Every so many layers, one is an attention layer.
    pub interval: u32,
    /// Whether a draft (MTP) layer follows.
    pub draft: bool,
    /// What only `qwen4exp` has.
    pub extras: Option<Extras>,
}

const fn hybrid(embedding: u32, layers: u32, feed_forward: u32, heads: [u32; 2], value_heads: u32) -> Shape {
    Shape {
        embedding,
        layers,
        feed_forward,
        experts: None,
        heads: heads[0],
        kv_heads: heads[1],
        head_width: 256,
        rope_width: 64,
        vocabulary: 248_320,
        tied: true,
        key_heads: 16,
        value_heads,
        state_width: 128,
        interval: 4,
        draft: false,
        extras: None,
    }
}

const fn dense(embedding: u32, layers: u32, feed_forward: u32, heads: [u32; 2], head_width: u32) -> Shape {
    Shape {
        head_width,
        rope_width: head_width,
        vocabulary: 151_936,
        ..hybrid(embedding, layers, feed_forward, heads, 16)
    }
}

/// A hybrid of experts, used by so many.
const fn mixed(embedding: u32, layers: u32, heads: [u32; 2], value_heads: u32, experts: [u32; 3]) -> Shape {
    let [count, used, inner] = experts;
    let experts = Some(Experts { count, used, inner, shared: inner });
    Shape { experts, tied: false, ..hybrid(embedding, layers, inner, heads, value_heads) }
}

/// A plain transformer of experts, used by so many, with heads of 128.
const fn routed(embedding: u32, layers: u32, heads: [u32; 2], experts: [u32; 3]) -> Shape {
    let [count, used, inner] = experts;
    let experts = Some(Experts { count, used, inner, shared: 0 });
    Shape { experts, tied: false, ..dense(embedding, layers, inner, heads, 128) }
}

const TINY_HYBRID: Shape = Shape {
    head_width: 64,
    rope_width: 16,
    vocabulary: 512,
    tied: false,
    key_heads: 4,
    state_width: 32,
    ..hybrid(256, 4, 512, [4, 2], 8)
};

const TINY_MIXED: Shape =
    Shape { experts: Some(Experts { count: 8, used: 3, inner: 64, shared: 64 }), ..TINY_HYBRID };

const TINY_DENSE: Shape = Shape { vocabulary: 512, tied: false, ..dense(256, 4, 512, [4, 2], 64) };

/// Shapes by architecture and name.
const SHAPES: [(SynthArch, &str, Shape); 30] = [
    (SynthArch::Qwen35, "tiny", TINY_HYBRID),
    (SynthArch::Qwen35, "0.8b", hybrid(1024, 24, 3584, [8, 2], 16)),
    (SynthArch::Qwen35, "2b", hybrid(2048, 24, 6144, [8, 2], 16)),
    (SynthArch::Qwen35, "4b", hybrid(2560, 32, 9216, [16, 4], 32)),
    (SynthArch::Qwen35, "9b", Shape { tied: false, ..hybrid(4096, 32, 12_288, [16, 4], 32) }),
    (SynthArch::Qwen35, "27b", Shape { tied: false, ..hybrid(5120, 64, 17_408, [24, 4], 48) }),
    (SynthArch::Qwen35Moe, "tiny", TINY_MIXED),
    (SynthArch::Qwen35Moe, "35b-a3b", mixed(2048, 40, [16, 2], 32, [256, 8, 512])),
    (SynthArch::Qwen35Moe, "122b-a10b", mixed(3072, 48, [32, 2], 64, [256, 8, 1024])),
    (SynthArch::Qwen3Next, "tiny", TINY_MIXED),
    (
        SynthArch::Qwen3Next,
        "80b-a3b",
        Shape { vocabulary: 151_936, ..mixed(2048, 48, [16, 2], 32, [512, 10, 512]) },
    ),
    (SynthArch::Qwen4Exp, "tiny", Shape { extras: Some(TINY), ..TINY_MIXED }),
    (
        SynthArch::Qwen4Exp,
        "125b-a6b",
        Shape { extras: Some(FLASH), ..mixed(2560, 48, [24, 2], 48, [512, 10, 640]) },
    ),
    (SynthArch::Qwen3, "tiny", TINY_DENSE),
    (SynthArch::Qwen3, "0.6b", dense(1024, 28, 3072, [16, 8], 128)),
    (SynthArch::Qwen3, "1.7b", dense(2048, 28, 6144, [16, 8], 128)),
    (SynthArch::Qwen3, "4b", dense(2560, 36, 9728, [32, 8], 128)),
    (SynthArch::Qwen3, "8b", Shape { tied: false, ..dense(4096, 36, 12_288, [32, 8], 128) }),
    (SynthArch::Qwen3, "14b", Shape { tied: false, ..dense(5120, 40, 17_408, [40, 8], 128) }),
    (SynthArch::Qwen3, "32b", Shape { tied: false, ..dense(5120, 64, 25_600, [64, 8], 128) }),
    (
        SynthArch::Qwen3Moe,
        "tiny",
        Shape { experts: Some(Experts { count: 8, used: 3, inner: 64, shared: 0 }), ..TINY_DENSE },
    ),
    (SynthArch::Qwen3Moe, "30b-a3b", routed(2048, 48, [32, 4], [128, 8, 768])),
    (SynthArch::Qwen3Moe, "235b-a22b", routed(4096, 94, [64, 4], [128, 8, 1536])),
    (SynthArch::Qwen2, "tiny", TINY_DENSE),
    (SynthArch::Qwen2, "0.5b", dense(896, 24, 4864, [14, 2], 64)),
    (
        SynthArch::Qwen2,
        "7b",
        Shape { vocabulary: 152_064, tied: false, ..dense(3584, 28, 18_944, [28, 4], 128) },
    ),
    (SynthArch::Llama, "tiny", TINY_DENSE),
    (SynthArch::Llama, "135m", Shape { vocabulary: 49_152, ..dense(576, 30, 1536, [9, 3], 64) }),
    (SynthArch::Llama, "1b", Shape { vocabulary: 128_256, ..dense(2048, 16, 8192, [32, 8], 64) }),
    (
        SynthArch::Llama,
        "8b",
        Shape { vocabulary: 128_256, tied: false, ..dense(4096, 32, 14_336, [32, 8], 128) },
    ),
];

/// A model to make. Fields may be changed after [`SynthSpec::named`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SynthSpec {
    /// The architecture.
    pub arch: SynthArch,
    /// The extents.
    pub shape: Shape,
    /// The types of the matrices.
    pub weights: Weights,
    /// Another seed gives other weights.
    pub seed: u64,
}

impl SynthSpec {
    /// A model by names: architecture (`qwen35`), size (`0.8b`) and weights (`Q4_K_M`), with seed 0.
    ///
    /// # Errors
    /// [`SynthError::Arch`], [`SynthError::Size`], [`SynthError::Weights`]
    pub fn named(arch: &str, size: &str, weights: &str) -> Result<Self, SynthError> {
        let arch = SynthArch::from_name(arch)?;
        let of_arch = || SHAPES.iter().filter(|row| row.0 == arch);
        let row = of_arch().find(|row| row.1.eq_ignore_ascii_case(size)).ok_or_else(|| SynthError::Size {
            arch: arch.name(),
            name: size.to_owned(),
            known: of_arch().map(|row| row.1).collect::<Vec<_>>().join(", "),
        })?;
        Ok(Self { arch, shape: row.2, weights: Weights::from_name(weights)?, seed: 0 })
    }

    /// Whether layer `index` is an attention layer.
    pub fn is_attention(&self, index: u32) -> bool {
        !self.arch.is_hybrid()
            || index >= self.shape.layers
            || (index + 1).is_multiple_of(self.shape.interval)
    }

    /// Whether a draft layer follows the others.
    pub fn has_draft(&self) -> bool {
        // Drafts on several streams have tensors of their own, which are not made.
        self.arch.is_hybrid() && self.shape.draft && self.shape.extras.is_none()
    }

    /// Checks the extents, so that every product of them is small enough.
    pub(super) fn check(&self) -> Result<(), SynthError> {
        let shape = &self.shape;
        let experts = shape.experts.unwrap_or(Experts { count: 1, used: 1, inner: 1, shared: 0 });
        let extents = [
            ("embedding", shape.embedding),
            ("layers", shape.layers),
            ("feed_forward", shape.feed_forward),
            ("heads", shape.heads),
            ("kv_heads", shape.kv_heads),
            ("head_width", shape.head_width),
            ("rope_width", shape.rope_width),
            ("key_heads", shape.key_heads),
            ("value_heads", shape.value_heads),
            ("state_width", shape.state_width),
            ("interval", shape.interval),
            ("experts.inner", experts.inner),
            ("experts.count", experts.count),
        ];
        for (what, extent) in extents {
            require(what, extent, (1..=1 << 20).contains(&extent), "between 1 and 1048576")?;
        }
        require("layers", shape.layers, shape.layers <= 1024, "1024 at most")?;
        let has_extras = shape.extras.is_some();
        let fits = has_extras == (self.arch == SynthArch::Qwen4Exp);
        require("extras", u32::from(has_extras), fits, "there for qwen4exp and for no other")?;
        if let Some(extras) = &shape.extras {
            extras.check(shape)?;
        }
        require("experts.count", experts.count, experts.count <= 4096, "4096 at most")?;
        let fits = (1..=experts.count).contains(&experts.used);
        require("experts.used", experts.used, fits, "between 1 and experts.count")?;
        require("experts.shared", experts.shared, experts.shared <= 1 << 20, "1048576 at most")?;
        let vocabulary = 259..=1 << 24;
        require(
            "vocabulary",
            shape.vocabulary,
            vocabulary.contains(&shape.vocabulary),
            "between 259 and 16777216",
        )?;
        require("heads", shape.heads, shape.heads.is_multiple_of(shape.kv_heads), "a multiple of kv_heads")?;
        let fits = shape.rope_width <= shape.head_width && shape.rope_width.is_multiple_of(2);
        require("rope_width", shape.rope_width, fits, "even and at most head_width")?;
        let fits = shape.value_heads.is_multiple_of(shape.key_heads);
        require("value_heads", shape.value_heads, fits, "a multiple of key_heads")
    }
}

pub(super) fn require(
    what: &'static str,
    got: u32,
    holds: bool,
    want: &'static str,
) -> Result<(), SynthError> {
    if holds { Ok(()) } else { Err(SynthError::Shape { what, got: got.into(), want }) }
}
