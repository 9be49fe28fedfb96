//! Embeddings of n-grams: each token's last few ids are hashed to rows of a table that may be far larger than memory.
//!
//! The host finds the rows, one for each hash, and decodes them out of the file; their values are an input of the graph.
//! On the device they become a key and a value; the key is matched with each residual stream to gate the value, and what is
//! let through is convolved over tokens and added.

use super::network::Network;
use super::streams::Streams;
use super::{HostInputs, Hyper, ModelError, Run, names};
use crate::gguf::{Gguf, GgufError};
use weft_core::graph::{DType, Op, TensorId, UnaryKind};
use weft_core::quant;

/// The table of rows.
const TABLE: &str = "per_layer_token_embd.weight";

/// The least size of a match before its root is taken.
const LEAST_MATCH: f32 = 1e-6;

/// How tokens are hashed, and the layer that gets the embeddings.
pub(super) struct Ngrams {
    layer: u64,
    /// Most tokens of an n-gram.
    size: u64,
    /// Hashes of each length of n-grams, from 2 on.
    heads: u64,
    taps: u64,
    /// The id that stands for tokens before a text's start.
    end: u32,
    /// A factor for each place of an n-gram, the last token's first.
    factors: Vec<u64>,
    /// Rows of each hash, and where they begin.
    ranges: Vec<(u64, u64)>,
    /// Width of a row.
    width: u64,
}

impl Ngrams {
    /// Reads the keys.
    ///
    /// # Errors
    /// [`ModelError::Gguf`] if a key or the table is missing or a number does not fit, [`ModelError::Unfit`] if values
    /// contradict each other.
    pub fn read(gguf: &Gguf, hyper: &Hyper) -> Result<Self, ModelError> {
        let key = |name: &str| format!("{}.{name}", hyper.architecture);
        let number = |name: &str| gguf.get_u32(&key(name)).map(u64::from);
        let unfit = |what: &str, why: &str| Err(ModelError::unfit(gguf, what, why));
        let (size, heads, taps) =
            (number("ple.ngram_size")?, number("ple.heads_per_ngram")?, number("ple.conv_kernel")?);
        if !(2..=8).contains(&size) || !(1..=64).contains(&heads) || !(2..=64).contains(&taps) {
            let what = "ple.ngram_size, ple.heads_per_ngram or ple.conv_kernel";
            return unfit(what, "it must lie between 2 and 8, 1 and 64, 2 and 64");
        }
        let layers: Vec<u32> = gguf.get(&key("ple.layers"))?;
        let [layer] = layers[..] else { return unfit("ple.layers", "exactly one layer is needed") };
        let hashes = heads * (size - 1);
        let width = number("embedding_length_per_layer_input")?;
        if width.checked_mul(hashes) != Some(hyper.embedding) {
            let why = "times the number of hashes, ple.heads_per_ngram · (ple.ngram_size − 1), it must be embedding_length";
            return unfit("embedding_length_per_layer_input", why);
        }
        let factors = numbers(gguf, &key("ple.layer_multipliers"), size)?;
        let most = (1 << 63) / hyper.vocabulary.max(1);
        if factors.iter().any(|factor| factor.is_multiple_of(2) || *factor > most) {
            let why = "each must be odd, and times the vocabulary less than 2^63";
            return unfit("ple.layer_multipliers", why);
        }
        let rows = numbers(gguf, &key("ple.head_vocab_sizes"), hashes)?;
        let starts = numbers(gguf, &key("ple.head_offsets"), hashes)?;
        let table = gguf.tensor(TABLE)?;
        if table.shape[0] != width {
            let (got, want) = (table.shape.to_vec(), vec![width, table.shape[1]]);
            return Err(ModelError::Shape {
                file: gguf.file().to_owned(),
                tensor: TABLE.to_owned(),
                got,
                want,
            });
        }
        let most = table.shape[1].min(i32::MAX as u64);
        let fits = |(rows, start): (&u64, &u64)| {
            *rows > 0 && rows.checked_add(*start).is_some_and(|end| end <= most)
        };
        if !rows.iter().zip(&starts).all(fits) {
            let what = "ple.head_offsets or ple.head_vocab_sizes";
            return unfit(
                what,
                "each range must hold at least one row, and end inside per_layer_token_embd and below 2^31",
            );
        }
        if quant::block_type(table.dtype).is_none() {
            let (file, tensor) = (gguf.file().to_owned(), TABLE.to_owned());
            return Err(ModelError::Type { file, tensor, dtype: table.dtype });
        }
        let ranges = rows.into_iter().zip(starts).collect();
        let end = gguf.get_u32(&key("ple.eos_token_id"))?;
        Ok(Ngrams { layer: layer.into(), size, heads, taps, end, factors, ranges, width })
    }

    /// The layer that gets the embeddings.
    pub fn layer(&self) -> u64 {
        self.layer
    }

    /// The rows of the table for a sequence's last token, in the order of the hashes. `text` ends with that token; more than
    /// an n-gram's tokens are not looked at.
    fn rows(&self, text: &[u32]) -> impl Iterator<Item = u64> + '_ {
        // Where the text starts, or another ended, so do all n-grams.
        let mut whole = true;
        let mut ids = text.iter().rev().copied();
        let first = ids.next().unwrap_or(self.end);
        let mut mixed = u64::from(first).wrapping_mul(self.factors[0]);
        let mixtures: Vec<u64> = self.factors[1..]
            .iter()
            .map(|factor| {
                let id = ids.next().filter(|id| whole && *id != self.end);
                whole &= id.is_some();
                mixed ^= u64::from(id.unwrap_or(self.end)).wrapping_mul(*factor);
                mixed
            })
            .collect();
        let heads = self.heads as usize;
        self.ranges.iter().enumerate().map(move |(hash, (rows, start))| mixtures[hash / heads] % rows + start)
    }

    /// Writes the embeddings of a ubatch's tokens.
    ///
    /// # Errors
    /// The file holds no data, or its rows cannot be decoded.
    pub fn write(&self, gguf: &Gguf, run: &Run<'_>, into: &mut HostInputs) -> Result<(), ModelError> {
        let table = gguf.tensor(TABLE)?;
        // A share in the mapping: only the pages of the rows are read.
        let bytes = gguf.tensor_bytes(table)?;
        let (bytes, row_bytes) = (bytes.as_ref(), table.row_bytes() as usize);
        let reach = self.size as usize - 1;
        let mut text = run.past[run.past.len().saturating_sub(reach)..].to_vec();
        let mut row = vec![0f32; self.width as usize];
        let out = into.of(names::NGRAMS);
        for id in run.ids {
            text.push(*id);
            for index in self.rows(&text) {
                let start = index as usize * row_bytes;
                let decoded = quant::decode_row(table.dtype, &bytes[start..start + row_bytes], &mut row);
                let unreadable = |source| {
                    let (file, tensor) = (gguf.file().to_owned(), TABLE.to_owned());
                    ModelError::Decode { file, tensor, source }
                };
                decoded.map_err(unreadable)?;
                out.extend_from_slice(bytemuck::cast_slice(&row));
            }
            if text.len() > reach {
                text.remove(0);
            }
        }
        Ok(())
    }

    /// Adds the embeddings to the residual streams.
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says.
    pub fn add(&self, net: &mut Network<'_>, streams: &Streams, x: TensorId) -> Result<TensorId, ModelError> {
        let blk = |name: &str| format!("blk.{}.{name}", self.layer);
        let (width, tokens, slots, values) =
            (net.hyper.embedding, net.batch.tokens, net.batch.slots, streams.values());
        let embedded = net.input(names::NGRAMS, DType::F32, &[width, tokens])?;
        let key = net.project(embedded, &blk("ple_key"), values)?;
        let key = streams.apart(net, key)?;
        let key = streams.norm(net, key, &blk("ple_norm_key.weight"))?;
        let query = streams.apart(net, x)?;
        let query = streams.norm(net, query, &blk("ple_norm_query.weight"))?;
        let product = net.b.mul(key, query)?;
        let product = net.b.op(Op::SumRows, &[product])?;
        let product = net.scale(product, 1.0 / (width as f32).sqrt())?;
        // The root of a match, with its sign.
        let sign = net.unary(UnaryKind::Sgn, product)?;
        let root = net.unary(UnaryKind::Abs, product)?;
        let root = net.b.op(Op::Clamp { min: LEAST_MATCH, max: f32::INFINITY }, &[root])?;
        let root = net.unary(UnaryKind::Sqrt, root)?;
        let root = net.b.mul(root, sign)?;
        let gate = net.unary(UnaryKind::Sigmoid, root)?;
        let value = net.project(embedded, &blk("ple_value"), width)?;
        let value = streams.shown(net, value)?;
        let gated = net.b.mul(value, gate)?;
        net.b.label(&blk("ple"));

        let normed = streams.norm(net, gated, &blk("ple_norm_conv.weight"))?;
        let normed = streams.joined(net, normed)?;
        let segments = net.segments()?;
        // As many inputs more as tokens can be taken back.
        let reach = (self.taps - 1) * self.size + net.batch.snapshots - 1;
        let name = format!("ngram_history.{}", self.layer);
        let history = net.b.state(&name, DType::F32, &[reach, values, slots])?;
        let weight = net.weight(&blk("ple_conv1d.weight"), &[self.taps, values])?;
        let conv = Op::SsmConv { dilation: self.size as u32 };
        let mixed = net.b.apply(conv, &[Some(normed), Some(weight), Some(history), Some(segments)])?[0];
        net.b.op(Op::ConvHistory, &[normed, history, segments])?;
        let mixed = net.unary(UnaryKind::Silu, mixed)?;
        let gated = streams.joined(net, gated)?;
        let x = net.add(x, gated)?;
        net.add(x, mixed)
    }
}

/// Exactly so many unsigned numbers, or more of which the first are taken.
fn numbers(gguf: &Gguf, key: &str, count: u64) -> Result<Vec<u64>, ModelError> {
    let mut all: Vec<u64> = gguf.get(key)?;
    if (all.len() as u64) < count {
        let (file, got) = (gguf.file().to_owned(), all.len() as u64);
        return Err(GgufError::ShortArray { file, key: key.to_owned(), want: count, got }.into());
    }
    all.truncate(count as usize);
    Ok(all)
}
