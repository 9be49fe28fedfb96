//! What a ubatch looks like from outside: its sizes, its inputs and outputs by name.

use weft_core::graph::DType;

/// Names of inputs, states and outputs.
pub mod names {
    /// Token ids, i32 `[tokens]`.
    pub const TOKENS: &str = "tokens";
    /// Positions, i32 `[tokens]`, or `[4·tokens]` (time, height, width, extra) for multi-section embeddings.
    pub const POSITIONS: &str = "positions";
    /// The segment table, i32 `[8, segments]`.
    pub const SEGMENTS: &str = "segments";
    /// The cache row of each token, i64 `[tokens]`: slot·cells + position.
    pub const CACHE_ROWS: &str = "cache_rows";
    /// Rows whose logits are wanted, i32 `[rows]`; only where not all are.
    pub const WANTED: &str = "wanted";
    /// f32 `[vocabulary, rows]`.
    pub const LOGITS: &str = "logits";
    /// How tokens are drawn, i32 `[8, rows]`: see [`Draw`](weft_core::kernels::sample::Draw). Only with sampling.
    pub const SAMPLING: &str = "sampling";
    /// What a drafter reads of the trunk, f32 `[embedding, kept]`, a state: normalised residuals of tokens, a ring of
    /// `kept − 1` rows, and behind it the drafter's own last.
    pub const KEPT: &str = "draft.hidden";
    /// Where each token's residual is kept, i64 `[tokens]`; only for the trunk of a model that drafts.
    pub const KEPT_ROWS: &str = "kept_rows";
    /// The kept residual of the token before each, i32 `[tokens]`; only for a drafter.
    pub const BEFORE_ROWS: &str = "before_rows";
    /// i32 `[2, rows]`: the token drawn for each row, and the bits of its f32 log-probability. Only with sampling.
    pub const SAMPLED: &str = "sampled";
    /// f32 `[embedding, tokens]`, the residual after a block; only if asked for.
    pub fn hidden(block: u64) -> String {
        format!("hidden.{block}")
    }
}

/// Which rows of a ubatch get logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// All of them.
    All,
    /// As many as are named in the input `wanted`.
    Some(u64),
    /// None: the ubatch only advances caches and states.
    None,
}

/// The shape key of a graph. Positions, slots and lengths are not part of it: they are read at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Tokens.
    pub tokens: u64,
    /// Entries of the segment table.
    pub segments: u64,
    /// Rows that get logits.
    pub rows: Rows,
    /// Cache cells per slot: the context size.
    pub cells: u64,
    /// Places for sequences.
    pub slots: u64,
    /// Type of cached keys and values.
    pub cache: DType,
    /// Whether the residual after each block is an output.
    pub hidden: bool,
    /// Whether a token is drawn for each row that gets logits.
    pub sample: bool,
    /// How many recurrent states are stored, those after the last tokens: as many, less one, can be taken back. At least 1.
    pub snapshots: u64,
    /// Rows of [`names::KEPT`]; 0 where nobody drafts.
    pub kept: u64,
    /// Whether this is the drafter's graph and not the trunk's.
    pub draft: bool,
}

impl Batch {
    /// One token of one sequence, with its logits.
    pub const fn token(cells: u64, cache: DType) -> Self {
        Batch {
            tokens: 1,
            segments: 1,
            rows: Rows::All,
            cells,
            slots: 1,
            cache,
            hidden: false,
            sample: false,
            snapshots: 1,
            kept: 0,
            draft: false,
        }
    }
}
