//! The plain operations and their attributes.
//!
//! An operation says what is computed, never how. Each has a stem, the name of the kernel that computes it alone, and
//! names for its sources and results; those names are the kernel's ports.

use super::DType;
use serde::{Deserialize, Serialize};

/// Which of the two published forms of the Euclidean norm is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum L2Form {
    /// `x / max(length, eps)`.
    MaxEps,
    /// `x / sqrt(length² + eps)`.
    SumEps,
}

/// How a value head finds its key head in a gated delta net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadMap {
    /// Value head j uses key head j mod the number of key heads.
    Tiled,
    /// Value head j uses key head j div (value heads per key head).
    Grouped,
}

/// Element-wise functions of one value.
#[expect(missing_docs, reason = "the variants are the usual names of the functions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnaryKind {
    Silu,
    Sigmoid,
    Softplus,
    Relu,
    Gelu,
    Exp,
    Tanh,
    Neg,
    Abs,
    Sgn,
    Sqrt,
    Square,
    Log,
}

/// Element-wise functions of two values.
#[expect(missing_docs, reason = "the variants are the usual names of the functions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryKind {
    Add,
    Sub,
    Mul,
    Div,
}

/// How rotary embedding pairs its dimensions and picks positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RopeKind {
    /// Pairs (2i, 2i + 1).
    Interleaved,
    /// Pairs (i, i + n/2).
    Neox,
    /// Pairs as `Neox`; four positions per token (time, height, width, extra), interleaved by section.
    MultiSection,
}

/// Attributes of a rotary embedding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rope {
    /// Pairing and positions.
    pub kind: RopeKind,
    /// How many leading dimensions of a head are rotated; the rest pass through.
    pub dims: u32,
    /// Base of the frequencies.
    #[serde(with = "super::float")]
    pub base: f32,
    /// Positions are multiplied by this (1 / context scaling factor).
    #[serde(with = "super::float")]
    pub scale: f32,
    /// Sections of `MultiSection`, in pairs.
    pub sections: [u32; 4],
    /// YaRN: 0 turns it off, 1 is full extrapolation mixing.
    #[serde(with = "super::float")]
    pub yarn_mix: f32,
    /// YaRN: the context length of training.
    pub yarn_context: u32,
    /// Cosines and sines are multiplied by this.
    #[serde(with = "super::float")]
    pub magnitude: f32,
}

/// Which triangle of a matrix is kept; the rest becomes zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Triangle {
    /// Strictly below the diagonal.
    Lower,
    /// Below and on the diagonal.
    LowerDiagonal,
    /// Strictly above the diagonal.
    Upper,
    /// Above and on the diagonal.
    UpperDiagonal,
}

/// A plain operation with its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// Another layout on the source's storage. No work: an alias.
    View,
    /// Rows of a table, chosen by index: `[table, rows] → [out]`.
    GetRows,
    /// Writes rows into existing storage at given indices: `[target, source, rows] → [target′]`.
    SetRows,
    /// Copies into existing storage, converting: `[source, target] → [target′]`.
    Copy,
    /// Copies into fresh packed storage of the given type: `[source] → [out]`.
    Cast {
        /// Type of the result.
        to: DType,
    },
    /// A fresh tensor of one value, shaped as its source, which is not read: `[like] → [out]`.
    Fill {
        /// The value.
        #[serde(with = "super::float")]
        value: f32,
    },
    /// Joins two tensors along a dimension: `[a, b] → [out]`.
    Concat {
        /// The dimension.
        dim: u32,
    },
    /// Repeats the source to the shape of `like`, which is not read: `[source, like] → [out]`.
    Repeat,
    /// `out[o, n] = Σ_i weight[i, o]·x[i, n]`, batched over the outer dimensions.
    MulMat,
    /// `MulMat` with a matrix per (expert slot, token) chosen by `ids`: `[weight, x, ids] → [out]`.
    MulMatId,
    /// `x / sqrt(mean(x²) + eps)` per row.
    RmsNorm {
        /// Added to the mean square.
        #[serde(with = "super::float")]
        eps: f32,
    },
    /// Rows scaled to Euclidean length one.
    L2Norm {
        /// Guard of the division.
        #[serde(with = "super::float")]
        eps: f32,
        /// Where the guard enters.
        form: L2Form,
    },
    /// Element-wise on two tensors; the second is repeated to the first's shape.
    Binary {
        /// The function.
        kind: BinaryKind,
    },
    /// `x·scale + bias`.
    Scale {
        /// Factor.
        #[serde(with = "super::float")]
        scale: f32,
        /// Summand.
        #[serde(with = "super::float")]
        bias: f32,
    },
    /// Element-wise on one tensor.
    Unary {
        /// The function.
        kind: UnaryKind,
    },
    /// `silu(gate)·up`.
    Swiglu,
    /// Rotary position embedding: `[x, positions, (divisors)] → [out]`.
    Rope(Rope),
    /// `softmax(x·scale + mask)` per row; a row that is masked whole gives zeros.
    Softmax {
        /// Factor on `x`.
        #[serde(with = "super::float")]
        scale: f32,
    },
    /// `softmax(scale·q·k + mask)·v` per head: `[q, k, v, (mask), (sinks), (segments)] → [out]`.
    FlashAttention {
        /// Factor on the scores.
        #[serde(with = "super::float")]
        scale: f32,
    },
    /// How well blocks of cached keys match each token, minus infinity for those it does not see whole:
    /// `[q, keys, segments] → [out]`.
    BlockScores {
        /// Cells of a block.
        block: u32,
    },
    /// Attention over chosen blocks of cells, and the cells behind the last whole block:
    /// `[q, k, v, blocks, segments] → [out]`.
    BlockAttention {
        /// Factor on the scores.
        #[serde(with = "super::float")]
        scale: f32,
        /// Cells of a block.
        block: u32,
    },
    /// Causal depthwise convolution: `[x, weight, (history), (segments)] → [out]`.
    SsmConv {
        /// Distance between taps, in tokens.
        dilation: u32,
    },
    /// Stores the last inputs of each segment for the next convolution: `[x, history, segments] → [history′]`.
    ConvHistory,
    /// The gated delta rule: `[q, k, v, gate, beta, state, (segments)] → [out]` or, with segments, `[out, state′]`.
    GatedDeltaNet {
        /// How many states after the last tokens are stored (K).
        snapshots: u32,
        /// Which key head a value head uses.
        heads: HeadMap,
    },
    /// Indices of the k largest of each row, ties to the lower index, in descending order of value.
    TopK {
        /// How many.
        k: u32,
    },
    /// Indices that sort each row, ties to the lower index.
    Argsort {
        /// Largest first.
        descending: bool,
    },
    /// Sum of each row.
    SumRows,
    /// Running sum along each row.
    #[serde(rename = "cumsum")]
    CumSum,
    /// Keeps one triangle of each matrix.
    Tri {
        /// Which.
        keep: Triangle,
    },
    /// Solves `A·X = B` for lower triangular A: `[a, b] → [x]`.
    SolveTri,
    /// Limits values to a range.
    Clamp {
        /// Lower bound.
        #[serde(with = "super::float")]
        min: f32,
        /// Upper bound.
        #[serde(with = "super::float")]
        max: f32,
    },
    /// A vector per row becomes a diagonal matrix.
    Diag,
    /// One token for each row of logits, and its log-probability: `[logits, params] → [out]`.
    Sample,
}

/// The operation without its attributes; rules match on it.
#[expect(missing_docs, reason = "the variants are those of `Op`")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    View,
    GetRows,
    SetRows,
    Copy,
    Cast,
    Fill,
    Concat,
    Repeat,
    MulMat,
    MulMatId,
    RmsNorm,
    L2Norm,
    Binary,
    Scale,
    Unary,
    Swiglu,
    Rope,
    Softmax,
    FlashAttention,
    BlockScores,
    BlockAttention,
    SsmConv,
    ConvHistory,
    GatedDeltaNet,
    TopK,
    Argsort,
    SumRows,
    #[serde(rename = "cumsum")]
    CumSum,
    Tri,
    SolveTri,
    Clamp,
    Diag,
    Sample,
}

/// How an operation treats one of its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its bytes are read.
    Read,
    /// Only its shape, or its storage as the place of a result, matters.
    Shape,
    /// The place of a result; the bytes that the operation does not write keep their value.
    Keep,
}

/// One source of an operation.
#[derive(Clone, Copy, Debug)]
pub struct SourcePort {
    /// Name of the kernel's port.
    pub name: &'static str,
    /// Whether its bytes are read.
    pub usage: Use,
    /// Whether it may be left out.
    pub optional: bool,
}

const fn read(name: &'static str) -> SourcePort {
    SourcePort { name, usage: Use::Read, optional: false }
}
const fn maybe(name: &'static str) -> SourcePort {
    SourcePort { name, usage: Use::Read, optional: true }
}
const fn shape(name: &'static str) -> SourcePort {
    SourcePort { name, usage: Use::Shape, optional: false }
}
const fn keep(name: &'static str) -> SourcePort {
    SourcePort { name, usage: Use::Keep, optional: false }
}

/// Names of an operation: its stem, its sources and its results.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The kernel that computes the operation alone.
    pub stem: &'static str,
    /// Sources in order.
    pub sources: &'static [SourcePort],
    /// Results in order.
    pub results: &'static [&'static str],
}

const fn signature(
    stem: &'static str,
    sources: &'static [SourcePort],
    results: &'static [&'static str],
) -> Signature {
    Signature { stem, sources, results }
}

const X: &[SourcePort] = &[read("x")];
const OUT: &[&str] = &["out"];

impl OpKind {
    /// Names of the operation's kernel, sources and results.
    pub const fn signature(self) -> Signature {
        match self {
            OpKind::View => signature("view", const { &[shape("x")] }, OUT),
            OpKind::GetRows => signature("get_rows", const { &[read("table"), read("rows")] }, OUT),
            OpKind::SetRows => {
                signature("set_rows", const { &[keep("target"), read("x"), read("rows")] }, OUT)
            }
            OpKind::Copy => signature("copy", const { &[read("x"), shape("target")] }, OUT),
            OpKind::Cast => signature("copy", X, OUT),
            OpKind::Fill => signature("fill", const { &[shape("like")] }, OUT),
            OpKind::Concat => signature("concat", const { &[read("a"), read("b")] }, OUT),
            OpKind::Repeat => signature("repeat", const { &[read("x"), shape("like")] }, OUT),
            OpKind::MulMat => signature("mul_mat", const { &[read("weight"), read("x")] }, OUT),
            OpKind::MulMatId => {
                signature("mul_mat_id", const { &[read("weight"), read("x"), read("ids")] }, OUT)
            }
            OpKind::RmsNorm => signature("rms_norm", X, OUT),
            OpKind::L2Norm => signature("l2_norm", X, OUT),
            OpKind::Binary => signature("binary", const { &[read("a"), read("b")] }, OUT),
            OpKind::Scale => signature("scale", X, OUT),
            OpKind::Unary => signature("unary", X, OUT),
            OpKind::Swiglu => signature("swiglu", const { &[read("gate"), read("up")] }, OUT),
            OpKind::Rope => {
                signature("rope", const { &[read("x"), read("positions"), maybe("divisors")] }, OUT)
            }
            OpKind::Softmax => signature("softmax", const { &[read("x"), maybe("mask")] }, OUT),
            OpKind::FlashAttention => signature(
                "flash_attention",
                const { &[read("q"), read("k"), read("v"), maybe("mask"), maybe("sinks"), maybe("segments")] },
                OUT,
            ),
            OpKind::BlockScores => {
                signature("block_scores", const { &[read("q"), read("keys"), read("segments")] }, OUT)
            }
            OpKind::BlockAttention => signature(
                "block_attention",
                const { &[read("q"), read("k"), read("v"), read("blocks"), read("segments")] },
                OUT,
            ),
            OpKind::SsmConv => signature(
                "ssm_conv",
                const { &[read("x"), read("weight"), maybe("history"), maybe("segments")] },
                OUT,
            ),
            OpKind::ConvHistory => signature(
                "conv_history",
                const { &[read("x"), keep("history"), read("segments")] },
                const { &["history_out"] },
            ),
            OpKind::GatedDeltaNet => signature(
                "gated_delta_net",
                const {
                    &[
                        read("q"),
                        read("k"),
                        read("v"),
                        read("gate"),
                        read("beta"),
                        read("state"),
                        maybe("segments"),
                    ]
                },
                const { &["out", "state_out"] },
            ),
            OpKind::TopK => signature("top_k", X, OUT),
            OpKind::Argsort => signature("argsort", X, OUT),
            OpKind::SumRows => signature("sum_rows", X, OUT),
            OpKind::CumSum => signature("cumsum", X, OUT),
            OpKind::Tri => signature("tri", X, OUT),
            OpKind::SolveTri => signature("solve_tri", const { &[read("a"), read("b")] }, OUT),
            OpKind::Clamp => signature("clamp", X, OUT),
            OpKind::Diag => signature("diag", X, OUT),
            OpKind::Sample => signature("sample", const { &[read("logits"), read("params")] }, OUT),
        }
    }
}

impl Op {
    /// The operation without its attributes.
    pub const fn kind(&self) -> OpKind {
        match self {
            Op::View => OpKind::View,
            Op::GetRows => OpKind::GetRows,
            Op::SetRows => OpKind::SetRows,
            Op::Copy => OpKind::Copy,
            Op::Cast { .. } => OpKind::Cast,
            Op::Fill { .. } => OpKind::Fill,
            Op::Concat { .. } => OpKind::Concat,
            Op::Repeat => OpKind::Repeat,
            Op::MulMat => OpKind::MulMat,
            Op::MulMatId => OpKind::MulMatId,
            Op::RmsNorm { .. } => OpKind::RmsNorm,
            Op::L2Norm { .. } => OpKind::L2Norm,
            Op::Binary { .. } => OpKind::Binary,
            Op::Scale { .. } => OpKind::Scale,
            Op::Unary { .. } => OpKind::Unary,
            Op::Swiglu => OpKind::Swiglu,
            Op::Rope(_) => OpKind::Rope,
            Op::Softmax { .. } => OpKind::Softmax,
            Op::FlashAttention { .. } => OpKind::FlashAttention,
            Op::BlockScores { .. } => OpKind::BlockScores,
            Op::BlockAttention { .. } => OpKind::BlockAttention,
            Op::SsmConv { .. } => OpKind::SsmConv,
            Op::ConvHistory => OpKind::ConvHistory,
            Op::GatedDeltaNet { .. } => OpKind::GatedDeltaNet,
            Op::TopK { .. } => OpKind::TopK,
            Op::Argsort { .. } => OpKind::Argsort,
            Op::SumRows => OpKind::SumRows,
            Op::CumSum => OpKind::CumSum,
            Op::Tri { .. } => OpKind::Tri,
            Op::SolveTri => OpKind::SolveTri,
            Op::Clamp { .. } => OpKind::Clamp,
            Op::Diag => OpKind::Diag,
            Op::Sample => OpKind::Sample,
        }
    }
}
