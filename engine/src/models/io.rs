//! What a ubatch looks like from outside: its sizes, its inputs and outputs by name.

use super::CacheTypes;

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
    /// Embeddings of the n-grams that end at each token, f32 `[embedding, tokens]`; only where a model has a table of them.
    pub const NGRAMS: &str = "ngrams";
    /// The cells whose keys make the keys of blocks that a ubatch completes, i32 `[block · blocks]`. As the next ones only where
    /// attention chooses blocks.
    pub const POOL_CELLS: &str = "pool_cells";
    /// The positions of those blocks, i32 `[4 · blocks]`: their first tokens', as `positions`.
    pub const POOL_POSITIONS: &str = "pool_positions";
    /// The rows of those blocks, i64 `[blocks]`: slot·blocks of a slot + block, or -1 for none.
    pub const POOL_ROWS: &str = "pool_rows";
    /// Which cells a token sees, f16 `[cells, tokens]`: 0, or minus infinity. As the next ones only where attention has masks.
    pub const MASK: &str = "mask";
    /// Which blocks a token sees whole, f32 `[blocks, tokens]`: 0, or minus infinity.
    pub const BLOCK_MASK: &str = "block_mask";
    /// The block of each cell, i32 `[cells]`.
    pub const CELL_BLOCKS: &str = "cell_blocks";
    /// The cells behind the last block that a token sees whole, i32 `[block − 1, tokens]`; -1 for none.
    pub const TAIL: &str = "tail";
    /// f32 `[streams · embedding, tokens]`, the residual after a block; only if asked for.
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
    /// Types of cached keys and values.
    pub cache: CacheTypes,
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
    /// Whether attention that chooses blocks takes all of them: no token may see more than it would choose (see
    /// [`Description::chooses_all`](super::Description::chooses_all)). Without meaning for other models.
    pub whole: bool,
}

impl Batch {
    /// One token of one sequence, with its logits.
    pub const fn token(cells: u64, cache: CacheTypes) -> Self {
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
            whole: false,
        }
    }
}

/// How attention that chooses blocks of its cache is expressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparseForm {
    /// By lists of blocks: what is not chosen is not read.
    #[default]
    Lists,
    /// By masks over all cells, from plain operations as published graphs have them: slower, to compare with. One slot only.
    Masks,
}

/// The tokens that a ubatch adds to a sequence, and those before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// Tokens of the sequence that were processed.
    pub past: &'a [u32],
    /// Tokens of the ubatch.
    pub ids: &'a [u32],
    /// Cache cells of the sequence's slot.
    pub cells: u64,
    /// The form of the graph.
    pub form: SparseForm,
}

/// Bytes of inputs that only some architectures have, written anew for each run. Vectors keep their memory between runs.
#[derive(Debug, Default)]
pub(crate) struct HostInputs(Vec<(&'static str, Vec<u8>)>);

impl HostInputs {
    /// The empty bytes of an input.
    pub fn of(&mut self, name: &'static str) -> &mut Vec<u8> {
        let at = self.0.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.0.push((name, Vec::new()));
            self.0.len() - 1
        });
        let bytes = &mut self.0[at].1;
        bytes.clear();
        bytes
    }

    /// All of them by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (*name, &bytes[..]))
    }
}
