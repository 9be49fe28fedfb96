//! Models: one file each, which only builds graphs from plain operations. `ARCHITECTURES` is the only list.

mod attention;
mod cache;
mod error;
mod experts;
mod hybrid;
mod hyper;
mod io;
mod llama;
mod mixture;
mod network;
mod ngram;
mod qwen2;
mod qwen3;
mod qwen35;
mod qwen35moe;
mod qwen3moe;
mod qwen3next;
mod qwen4exp;
mod selection;
mod streams;

pub use cache::CacheTypes;
pub use error::ModelError;
pub use experts::{ExpertNodes, ExpertsOn};
pub use hyper::Hyper;
pub use io::{Batch, Rows, SparseForm, names};
pub(crate) use io::{HostInputs, Run};

use crate::gguf::Gguf;
use network::Network;
use std::sync::Arc;
use weft_core::graph::{DType, Graph};

/// Reads the parts of the metadata that only some architectures have, and appends one model's operations.
pub(crate) trait Architecture: Send + Sync {
    /// Appends the graph of one ubatch.
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError>;

    /// Appends the graph of the drafter, a block behind the trunk that guesses the token after the next.
    fn draft(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        Err(net.no_drafter())
    }

    /// Whether a sequence has states that only hold what was stored: no token can be taken out of the middle of them.
    fn is_recurrent(&self) -> bool {
        false
    }

    /// Whether attention that chooses blocks would choose all of a sequence of so many tokens.
    fn chooses_all(&self, tokens: u64) -> bool {
        let _ = tokens;
        false
    }

    /// Writes the inputs of one ubatch that only this architecture has.
    fn write_inputs(&self, gguf: &Gguf, run: &Run<'_>, into: &mut HostInputs) -> Result<(), ModelError> {
        let _ = (gguf, run, into);
        Ok(())
    }
}

/// Makes an architecture from a file's metadata.
type Open = fn(&Gguf, &Hyper) -> Result<Box<dyn Architecture>, ModelError>;

/// Known architectures by the name in `general.architecture`.
const ARCHITECTURES: &[(&str, Open)] = &[
    ("llama", llama::open),
    ("qwen2", qwen2::open),
    ("qwen3", qwen3::open),
    ("qwen3moe", qwen3moe::open),
    ("qwen35", qwen35::open),
    ("qwen35moe", qwen35moe::open),
    ("qwen3next", qwen3next::open),
    ("qwen4exp", qwen4exp::open),
];

/// A model's shape and the way to its graphs. Holds no weights: metadata is enough.
pub struct Description {
    gguf: Arc<Gguf>,
    hyper: Hyper,
    form: SparseForm,
    architecture: Box<dyn Architecture>,
}

impl Description {
    /// Reads a file's metadata.
    ///
    /// # Errors
    /// [`ModelError::Architecture`] if it is unknown, [`ModelError::Gguf`] if a key is missing or wrong,
    /// [`ModelError::Unfit`] if values contradict each other.
    pub fn new(gguf: Arc<Gguf>) -> Result<Self, ModelError> {
        let name = gguf.get_str("general.architecture")?;
        let Some((_, open)) = ARCHITECTURES.iter().find(|(known, _)| *known == name) else {
            let known = ARCHITECTURES.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            return Err(ModelError::Architecture {
                file: gguf.file().to_owned(),
                name: name.to_owned(),
                known,
            });
        };
        let hyper = Hyper::read(&gguf)?;
        let architecture = open(&gguf, &hyper)?;
        Ok(Description { hyper, form: SparseForm::default(), architecture, gguf })
    }

    /// The same with another form of attention that chooses blocks.
    pub fn with_sparse_form(self, form: SparseForm) -> Self {
        Description { form, ..self }
    }

    /// The form of attention that chooses blocks.
    pub fn sparse_form(&self) -> SparseForm {
        self.form
    }

    /// The file.
    pub fn gguf(&self) -> &Arc<Gguf> {
        &self.gguf
    }

    /// Numbers that every architecture has.
    pub fn hyper(&self) -> &Hyper {
        &self.hyper
    }

    /// Whether its states are recurrent: see [`Batch::snapshots`] for how tokens are taken back.
    pub fn is_recurrent(&self) -> bool {
        self.architecture.is_recurrent()
    }

    /// Whether it has a block that drafts.
    ///
    /// # Errors
    /// The file says that it has one, and its tensors are missing or do not fit.
    pub fn drafts(&self) -> Result<bool, ModelError> {
        match self.check_drafter(DType::F16.into()) {
            Ok(()) => Ok(true),
            Err(ModelError::NoDrafter { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the draft block can be used with such a cache.
    ///
    /// # Errors
    /// As [`Description::graph`] of the drafter.
    pub(crate) fn check_drafter(&self, cache: CacheTypes) -> Result<(), ModelError> {
        self.graph(&Batch { kept: 2, draft: true, ..Batch::token(1, cache) }).map(|_| ())
    }

    /// The graph of one ubatch, of the trunk or of the drafter.
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says; [`ModelError::NoDrafter`] if it does not draft,
    /// [`ModelError::OnlyDrafter`] if it does nothing else.
    pub fn graph(&self, batch: &Batch) -> Result<Graph, ModelError> {
        Ok(self.graph_with_experts(batch)?.0)
    }

    /// The same, and which of its nodes compute experts.
    ///
    /// # Errors
    /// As [`Description::graph`].
    pub fn graph_with_experts(&self, batch: &Batch) -> Result<(Graph, Vec<ExpertNodes>), ModelError> {
        let mut net = Network::new(&self.gguf, &self.hyper, batch, self.form)?;
        if batch.draft && self.hyper.drafts == 0 {
            return Err(net.no_drafter());
        }
        if !batch.draft && self.only_drafts() {
            return Err(ModelError::OnlyDrafter { file: self.gguf.file().to_owned() });
        }
        if batch.draft {
            self.architecture.draft(&mut net)?;
        } else {
            self.architecture.build(&mut net)?;
        }
        net.finish()
    }

    /// Whether the file holds a draft block and nothing of the trunk.
    fn only_drafts(&self) -> bool {
        let trunk = ["blk.0.attn_norm.weight", "blk.0.hc_attn_norm.weight"];
        self.hyper.drafts > 0 && trunk.iter().all(|name| self.gguf.find_tensor(name).is_none())
    }

    /// Whether attention that chooses blocks would choose all of a sequence of so many tokens: then a ubatch that ends there
    /// may be [`Batch::whole`]. False for models whose attention chooses nothing, since there it makes no difference.
    pub fn chooses_all(&self, tokens: u64) -> bool {
        self.architecture.chooses_all(tokens)
    }

    /// Writes the inputs of one ubatch that only this architecture has.
    ///
    /// # Errors
    /// The file holds no data, or cannot be decoded.
    pub(crate) fn write_inputs(&self, run: &Run<'_>, into: &mut HostInputs) -> Result<(), ModelError> {
        self.architecture.write_inputs(&self.gguf, run, into)
    }
}
