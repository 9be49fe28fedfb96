//! What models are built from: weights by name, the inputs of a ubatch, and layers that several architectures share.

use super::{Batch, ExpertNodes, Hyper, ModelError, Rows, SparseForm, names};
use crate::gguf::Gguf;
use std::collections::HashMap;
use weft_core::graph::{BinaryKind, DType, Graph, GraphBuilder, Op, TensorId, UnaryKind};
use weft_core::kernels::sample;
use weft_core::quant;
use weft_core::segment::SEGMENT_WORDS;

/// A graph under construction.
pub(crate) struct Network<'a> {
    gguf: &'a Gguf,
    /// Sizes of the model.
    pub hyper: &'a Hyper,
    /// Sizes of the ubatch.
    pub batch: Batch,
    /// How attention that chooses blocks is expressed.
    pub form: SparseForm,
    /// The graph.
    pub b: GraphBuilder,
    weights: HashMap<String, TensorId>,
    inputs: HashMap<&'static str, TensorId>,
    experts: Vec<ExpertNodes>,
}

impl<'a> Network<'a> {
    pub(super) fn new(
        gguf: &'a Gguf,
        hyper: &'a Hyper,
        batch: &Batch,
        form: SparseForm,
    ) -> Result<Self, ModelError> {
        let Batch { tokens, segments, cells, slots, .. } = *batch;
        let why = match batch.rows {
            _ if tokens == 0 || segments == 0 => Some("it needs at least one token and one segment"),
            _ if cells == 0 || slots == 0 => Some("it needs at least one cell and one slot"),
            _ if !(1..=64).contains(&batch.snapshots) => Some("between 1 and 64 states are stored"),
            _ if batch.kept == 1 || batch.draft && batch.kept == 0 => {
                Some("a drafter needs at least two rows kept")
            }
            _ if tokens > 1 << 24 || cells > 1 << 32 || slots > 1 << 16 => Some("a size is out of range"),
            Rows::Some(rows) if rows == 0 || rows > tokens => Some("between 1 and all rows can get logits"),
            _ => batch.cache.refusal(hyper),
        };
        if let Some(why) = why {
            return Err(ModelError::Batch { tokens, segments, cells, slots, why });
        }
        let (b, weights, inputs) = (GraphBuilder::new(), HashMap::new(), HashMap::new());
        Ok(Network { gguf, hyper, batch: *batch, form, b, weights, inputs, experts: Vec::new() })
    }

    pub(super) fn finish(self) -> Result<(Graph, Vec<ExpertNodes>), ModelError> {
        Ok((self.b.finish()?, self.experts))
    }

    /// Notes that the nodes from this one to the last made compute a layer's experts.
    pub fn experts_since(&mut self, layer: u64, first: usize) {
        self.experts.push(ExpertNodes { layer, nodes: first..self.b.graph().nodes.len() });
    }

    /// That the model does not draft: its file has no block for it, or weft cannot use it.
    pub fn no_drafter(&self) -> ModelError {
        let architecture = &self.hyper.architecture;
        let why = match self.hyper.drafts {
            0 => format!("{architecture}.nextn_predict_layers is 0 or missing"),
            _ => format!("those of {architecture} are not supported yet"),
        };
        ModelError::NoDrafter { file: self.gguf.file().to_owned(), why }
    }

    /// A weight that must exist with this shape.
    pub fn weight(&mut self, name: &str, shape: &[u64]) -> Result<TensorId, ModelError> {
        let entry = self.gguf.tensor(name)?;
        let mut want = [1; 4];
        want[..shape.len()].copy_from_slice(shape);
        let file = || self.gguf.file().to_owned();
        if entry.shape != want {
            let (got, want) = (entry.shape.to_vec(), want.to_vec());
            return Err(ModelError::Shape { file: file(), tensor: name.to_owned(), got, want });
        }
        if quant::block_type(entry.dtype).is_none() {
            return Err(ModelError::Type { file: file(), tensor: name.to_owned(), dtype: entry.dtype });
        }
        if let Some(known) = self.weights.get(name) {
            return Ok(*known);
        }
        let tensor = self.b.weight(name, entry.dtype, shape)?;
        self.weights.insert(name.to_owned(), tensor);
        Ok(tensor)
    }

    /// Whether the file has a tensor.
    pub fn has(&self, name: &str) -> bool {
        self.gguf.find_tensor(name).is_some()
    }

    /// A weight that may be absent.
    pub fn maybe_weight(&mut self, name: &str, shape: &[u64]) -> Result<Option<TensorId>, ModelError> {
        if self.has(name) { self.weight(name, shape).map(Some) } else { Ok(None) }
    }

    /// How many columns `[width, columns]` has: tokens, or those of them whose logits are wanted.
    pub fn columns(&self, x: TensorId) -> u64 {
        self.b.graph().tensor(x).shape()[1]
    }

    /// A vector that must be f32: norms, biases, decays. Others are cast.
    pub fn vector(&mut self, name: &str, length: u64) -> Result<TensorId, ModelError> {
        let weight = self.weight(name, &[length])?;
        self.as_float(weight)
    }

    /// `x·scale`.
    pub fn scale(&mut self, x: TensorId, scale: f32) -> Result<TensorId, ModelError> {
        Ok(self.b.op(Op::Scale { scale, bias: 0.0 }, &[x])?)
    }

    fn as_float(&mut self, tensor: TensorId) -> Result<TensorId, ModelError> {
        if self.b.graph().tensor(tensor).dtype() == DType::F32 {
            return Ok(tensor);
        }
        Ok(self.b.op(Op::Cast { to: DType::F32 }, &[tensor])?)
    }

    /// An input, made at its first use.
    pub fn input(&mut self, name: &'static str, dtype: DType, shape: &[u64]) -> Result<TensorId, ModelError> {
        if let Some(known) = self.inputs.get(name) {
            return Ok(*known);
        }
        let tensor = self.b.input(name, dtype, shape)?;
        self.inputs.insert(name, tensor);
        Ok(tensor)
    }

    /// The segment table.
    pub fn segments(&mut self) -> Result<TensorId, ModelError> {
        self.input(names::SEGMENTS, DType::I32, &[SEGMENT_WORDS as u64, self.batch.segments])
    }

    /// Positions, `axes` per token.
    pub fn positions(&mut self, axes: u64) -> Result<TensorId, ModelError> {
        self.input(names::POSITIONS, DType::I32, &[axes * self.batch.tokens])
    }

    /// The cache row of each token.
    pub fn cache_rows(&mut self) -> Result<TensorId, ModelError> {
        self.input(names::CACHE_ROWS, DType::I64, &[self.batch.tokens])
    }

    /// The kept residual of the token before each of the ubatch.
    pub fn before_rows(&mut self) -> Result<TensorId, ModelError> {
        self.input(names::BEFORE_ROWS, DType::I32, &[self.batch.tokens])
    }

    /// Rows of the embedding for the ubatch's tokens.
    pub fn embed(&mut self) -> Result<TensorId, ModelError> {
        self.embed_with("token_embd")
    }

    /// Rows of the table `name.weight` for the ubatch's tokens.
    pub fn embed_with(&mut self, name: &str) -> Result<TensorId, ModelError> {
        let (width, rows) = (self.hyper.embedding, self.hyper.vocabulary);
        let table = self.weight(&format!("{name}.weight"), &[width, rows])?;
        let tokens = self.input(names::TOKENS, DType::I32, &[self.batch.tokens])?;
        let embedded = self.b.op(Op::GetRows, &[table, tokens])?;
        self.b.label("embed");
        self.scaled(embedded, name)
    }

    /// What the matrix `name.weight` gave, by the factor in `name.scale` where the file keeps one apart from its values.
    fn scaled(&mut self, x: TensorId, name: &str) -> Result<TensorId, ModelError> {
        match self.maybe_weight(&format!("{name}.scale"), &[1])? {
            Some(factor) => {
                let factor = self.as_float(factor)?;
                Ok(self.b.mul(x, factor)?)
            }
            None => Ok(x),
        }
    }

    /// The same of `[rows, used, tokens]` that the chosen of several matrices gave: each has a factor of its own.
    pub fn scaled_by_expert(
        &mut self,
        x: TensorId,
        ids: TensorId,
        name: &str,
        experts: u64,
    ) -> Result<TensorId, ModelError> {
        let Some(factors) = self.maybe_weight(&format!("{name}.scale"), &[experts])? else { return Ok(x) };
        let [_, used, tokens, _] = self.b.graph().tensor(x).shape();
        let factors = self.b.reshape(factors, [1, experts, 1, 1])?;
        let ids = self.b.reshape(ids, [used * tokens, 1, 1, 1])?;
        let chosen = self.b.op(Op::GetRows, &[factors, ids])?;
        let chosen = self.b.reshape(chosen, [1, used, tokens, 1])?;
        Ok(self.b.mul(x, chosen)?)
    }

    /// `rms_norm(x)·weight`.
    pub fn norm(&mut self, x: TensorId, name: &str) -> Result<TensorId, ModelError> {
        let width = self.b.graph().tensor(x).shape()[0];
        let weight = self.vector(name, width)?;
        Ok(self.b.rms_norm(x, weight, self.hyper.eps)?)
    }

    /// `weight·x (· scale) (+ bias)` for the weight `name.weight` of this many rows.
    pub fn project(&mut self, x: TensorId, name: &str, rows: u64) -> Result<TensorId, ModelError> {
        let width = self.b.graph().tensor(x).shape()[0];
        let weight = self.weight(&format!("{name}.weight"), &[width, rows])?;
        let product = self.b.mul_mat(weight, x)?;
        self.b.label(name);
        let product = self.scaled(product, name)?;
        match self.maybe_weight(&format!("{name}.bias"), &[rows])? {
            Some(bias) => {
                let bias = self.as_float(bias)?;
                Ok(self.b.add(product, bias)?)
            }
            None => Ok(product),
        }
    }

    /// A function of one value.
    pub fn unary(&mut self, kind: UnaryKind, x: TensorId) -> Result<TensorId, ModelError> {
        Ok(self.b.op(Op::Unary { kind }, &[x])?)
    }

    /// `a + b`.
    pub fn add(&mut self, a: TensorId, b: TensorId) -> Result<TensorId, ModelError> {
        Ok(self.b.op(Op::Binary { kind: BinaryKind::Add }, &[a, b])?)
    }

    /// `W_down(silu(W_gate·x)·(W_up·x))`.
    pub fn feed_forward(&mut self, x: TensorId, layer: u64) -> Result<TensorId, ModelError> {
        self.gated_network(x, |name| format!("blk.{layer}.{name}"), self.hyper.feed_forward)
    }

    /// The same with an inner width and names of its own: `name` makes them of `ffn_gate`, `ffn_up` and `ffn_down`.
    pub fn gated_network(
        &mut self,
        x: TensorId,
        name: impl Fn(&str) -> String,
        inner: u64,
    ) -> Result<TensorId, ModelError> {
        let gate = self.project(x, &name("ffn_gate"), inner)?;
        let up = self.project(x, &name("ffn_up"), inner)?;
        let gated = self.b.op(Op::Swiglu, &[gate, up])?;
        self.project(gated, &name("ffn_down"), self.hyper.embedding)
    }

    /// Only the rows whose logits are wanted. Used once, as late as all later work is by rows.
    pub fn wanted(&mut self, x: TensorId) -> Result<TensorId, ModelError> {
        match self.batch.rows {
            Rows::Some(rows) if rows < self.batch.tokens => {
                let wanted = self.input(names::WANTED, DType::I32, &[rows])?;
                Ok(self.b.op(Op::GetRows, &[x, wanted])?)
            }
            _ => Ok(x),
        }
    }

    /// Adds a block's feed-forward half and ends the block: residual, norm, network, residual.
    ///
    /// `mixed` is what the token mixer gave and `x` the residual before it.
    pub fn end_block(
        &mut self,
        x: TensorId,
        mixed: TensorId,
        layer: u64,
        norm: &str,
        network: impl FnOnce(&mut Self, TensorId) -> Result<TensorId, ModelError>,
    ) -> Result<TensorId, ModelError> {
        // The trunk of a model that drafts keeps the residuals of all tokens.
        let trunk_ends = layer + 1 == self.hyper.layers && self.batch.kept == 0;
        let last = (trunk_ends || self.batch.draft) && !self.batch.hidden;
        if last && self.batch.rows == Rows::None {
            return Ok(x);
        }
        let (x, mixed) = if last { (self.wanted(x)?, self.wanted(mixed)?) } else { (x, mixed) };
        let x = self.add(x, mixed)?;
        let normed = self.norm(x, &format!("blk.{layer}.{norm}.weight"))?;
        let out = network(self, normed)?;
        let x = self.add(x, out)?;
        if self.batch.hidden {
            self.b.output(&names::hidden(layer), x)?;
        }
        Ok(x)
    }

    /// Final norm, output head, and the draw of tokens if asked for.
    pub fn head(&mut self, x: TensorId) -> Result<(), ModelError> {
        let Batch { rows, hidden, kept, .. } = self.batch;
        if rows == Rows::None && kept == 0 {
            return Ok(());
        }
        let x = if hidden && kept == 0 { self.wanted(x)? } else { x };
        let mut normed = self.norm(x, "output_norm.weight")?;
        if kept > 0 {
            let places = self.input(names::KEPT_ROWS, DType::I64, &[self.batch.tokens])?;
            let ring = self.b.state(names::KEPT, DType::F32, &[self.hyper.embedding, kept])?;
            self.b.op(Op::SetRows, &[ring, normed, places])?;
            normed = self.wanted(normed)?;
        }
        if rows == Rows::None { Ok(()) } else { self.logits(normed, None) }
    }

    /// Logits of normalised residuals, by the head `own.weight` or the model's, and the draw of tokens if asked for.
    pub fn logits(&mut self, normed: TensorId, own: Option<&str>) -> Result<(), ModelError> {
        let (width, rows) = (self.hyper.embedding, self.hyper.vocabulary);
        let name = match own {
            Some(own) => own,
            None if self.has("output.weight") => "output",
            None => "token_embd",
        };
        let weight = self.weight(&format!("{name}.weight"), &[width, rows])?;
        let product = self.b.mul_mat(weight, normed)?;
        self.b.label("output");
        let mut logits = self.scaled(product, name)?;
        if let Some(bias) = self.maybe_weight("output.bias", &[rows])? {
            let bias = self.as_float(bias)?;
            logits = self.b.add(logits, bias)?;
        }
        self.b.output(names::LOGITS, logits)?;
        if self.batch.sample {
            let rows = self.b.graph().tensor(logits).shape()[1];
            let params = self.input(names::SAMPLING, DType::I32, &[sample::WORDS as u64, rows])?;
            let sampled = self.b.op(Op::Sample, &[logits, params])?;
            self.b.output(names::SAMPLED, sampled)?;
        }
        Ok(())
    }
}
