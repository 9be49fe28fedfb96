//! What synthetic models of `qwen4exp` have besides a hybrid with experts: residual streams, embeddings of n-grams, and
//! attention that chooses blocks.

use super::SynthError;
use super::keys::CONVOLUTION;
use super::spec::{Shape, SynthSpec, require};
use super::tables::{Fill, Table};
use super::weights::Role;
use crate::gguf::GgufWriter;
use weft_core::graph::DType;

/// Sizes that only `qwen4exp` has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extras {
    /// Residual streams.
    pub streams: u32,
    /// Inner width of the gates of streams.
    pub rank: u32,
    /// Heads of the indexer.
    pub index_heads: u32,
    /// Width of those heads.
    pub index_width: u32,
    /// Tokens that attention chooses.
    pub chosen: u32,
    /// Tokens of a block.
    pub block: u32,
    /// Hashes of each length of n-grams.
    pub ngram_heads: u32,
    /// Rows of the table for each hash.
    pub ngram_rows: u32,
}

/// Most tokens of an n-gram.
const NGRAM: u32 = 3;
/// The layer that gets the embeddings of n-grams.
const NGRAM_LAYER: u32 = 1;

pub(super) const TINY: Extras = Extras {
    streams: 4,
    rank: 32,
    index_heads: 4,
    index_width: 32,
    chosen: 8,
    block: 4,
    ngram_heads: 4,
    ngram_rows: 500,
};

pub(super) const FLASH: Extras = Extras {
    streams: 4,
    rank: 320,
    index_heads: 4,
    index_width: 128,
    chosen: 2048,
    block: 4,
    ngram_heads: 8,
    ngram_rows: 20_000_000,
};

impl Extras {
    /// Hashes of a token.
    fn hashes(&self) -> u32 {
        self.ngram_heads.saturating_mul(NGRAM - 1)
    }

    pub(super) fn check(&self, shape: &Shape) -> Result<(), SynthError> {
        let extents = [
            ("extras.streams", self.streams, 2, 64),
            ("extras.rank", self.rank, 1, 1 << 16),
            ("extras.index_heads", self.index_heads, 1, 1 << 10),
            ("extras.index_width", self.index_width, shape.rope_width, 1 << 16),
            ("extras.block", self.block, 2, 1 << 10),
            ("extras.chosen", self.chosen, self.block, 1 << 20),
            ("extras.ngram_heads", self.ngram_heads, 1, 64),
            ("extras.ngram_rows", self.ngram_rows, 1, i32::MAX as u32 / self.hashes().max(1)),
        ];
        for (what, extent, least, most) in extents {
            require(what, extent, (least..=most).contains(&extent), "in the range that loaders take")?;
        }
        require(
            "extras.chosen",
            self.chosen,
            self.chosen.is_multiple_of(self.block),
            "a multiple of extras.block",
        )?;
        let fits = shape.embedding.is_multiple_of(self.hashes());
        require("extras.ngram_heads", self.ngram_heads, fits, "such that its double divides embedding")?;
        let fits = shape.layers > NGRAM_LAYER && shape.interval > NGRAM_LAYER + 1;
        require("interval", shape.interval, fits, "3 at least, so that layer 1 is recurrent")
    }

    /// Sets the keys; `end` is the id that ends a text.
    pub(super) fn set(&self, writer: &mut GgufWriter, spec: &SynthSpec, end: u32) {
        let key = |name: &str| format!("{}.{name}", spec.arch.name());
        for (name, value) in [
            ("hyper_connection.count", self.streams),
            ("hyper_connection.low_rank", self.rank),
            ("attention.indexer.head_count", self.index_heads),
            ("attention.indexer.key_length", self.index_width),
            ("attention.indexer.top_k", self.chosen),
            ("ple.ngram_size", NGRAM),
            ("ple.heads_per_ngram", self.ngram_heads),
            ("ple.conv_kernel", CONVOLUTION),
            ("ple.eos_token_id", end),
            ("embedding_length_per_layer_input", spec.shape.embedding / self.hashes()),
        ] {
            writer.set(&key(name), value);
        }
        let ratio = |layer| if spec.is_attention(layer) { self.block.cast_signed() } else { 0 };
        let ratios: Vec<i32> = (0..spec.shape.layers).map(ratio).collect();
        writer.set(&key("attention.compress_ratios"), &ratios[..]);
        writer.set(&key("ple.layers"), &[NGRAM_LAYER.cast_signed()][..]);
        // Odd, and times the vocabulary less than 2^63.
        let most = (1u64 << 63) / u64::from(spec.shape.vocabulary);
        let factors: Vec<u64> = (0..u64::from(NGRAM)).map(|place| most / (3 + 2 * place) | 1).collect();
        writer.set(&key("ple.layer_multipliers"), &factors[..]);
        let rows = vec![u64::from(self.ngram_rows); self.hashes() as usize];
        let starts: Vec<u64> =
            (0..u64::from(self.hashes())).map(|hash| hash * u64::from(self.ngram_rows)).collect();
        writer.set(&key("ple.head_vocab_sizes"), &rows[..]);
        writer.set(&key("ple.head_offsets"), &starts[..]);
    }

    /// Tensors that belong to no layer.
    pub(super) fn globals(&self, table: &mut Table<'_>) {
        let width = u64::from(table.spec.shape.embedding);
        self.mix(table, "output_hc");
        let rows = u64::from(self.hashes()) * u64::from(self.ngram_rows);
        table.matrix(
            "per_layer_token_embd.weight".into(),
            width / u64::from(self.hashes()),
            rows,
            Role::Plain,
        );
    }

    /// Tensors of a layer that stand in the place of norms, or beside its own.
    pub(super) fn layer(&self, table: &mut Table<'_>, layer: u32) {
        let width = u64::from(table.spec.shape.embedding);
        let values = width * u64::from(self.streams);
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        for part in ["hc_attn", "hc_ffn"] {
            let part = format!("blk.{layer}.{part}");
            self.mix(table, &part);
            table.matrix(format!("{part}_inject.weight"), values, self.streams.into(), Role::Plain);
        }
        if layer == NGRAM_LAYER {
            table.matrix(name("ple_key"), width, values, Role::Plain);
            table.matrix(name("ple_value"), width, width, Role::Plain);
            for part in ["ple_norm_key", "ple_norm_query", "ple_norm_conv"] {
                table.norm(name(part), values);
            }
            let taps = vec![CONVOLUTION.into(), values];
            table.push(name("ple_conv1d"), DType::F32, taps, Fill::Matrix { deviation: 0.5 });
        }
        if table.spec.is_attention(layer) {
            let head = u64::from(self.index_width);
            table.matrix(name("indexer.q_proj"), width, head * u64::from(self.index_heads), Role::Plain);
            table.matrix(name("indexer.k_proj"), width, head, Role::Plain);
            table.norm(name("indexer.q_norm"), head);
            table.norm(name("indexer.k_norm"), head);
        }
    }

    /// Tensors that make one row of all streams.
    fn mix(&self, table: &mut Table<'_>, name: &str) {
        let values = u64::from(table.spec.shape.embedding) * u64::from(self.streams);
        table.norm(format!("{name}_norm.weight"), values);
        table.matrix(format!("{name}_down.weight"), values, self.rank.into(), Role::Plain);
        table.matrix(format!("{name}_up.weight"), self.rank.into(), values, Role::Plain);
    }
}
