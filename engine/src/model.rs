//! A model that is open: its file, tokenizer, template and weights on devices.

use crate::Error;
use crate::gguf::{Gguf, HostBytes};
use crate::models::{Batch, Description, ExpertsOn, ModelError, SparseForm};
use crate::template::ChatTemplate;
use crate::tokenizer::{Tokenizer, TokenizerOptions};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::{Backend, Buffer, DeviceError};
use weft_core::graph::{DType, Graph, Layout, NodeId, Owner, StorageId};
use weft_core::plan::{Place, Plan};
use weft_core::run::Buffers;

/// A model with its devices. Sessions share it; weights are on each device once.
pub struct Model {
    file: Arc<File>,
    backends: Vec<Arc<dyn Backend>>,
    experts_on: ExpertsOn,
    /// Another file whose draft block is used.
    draft: Option<Arc<Description>>,
    /// By device, whether they are of that other file, and name.
    weights: Mutex<HashMap<(usize, bool, String), Buffer>>,
}

/// What a model is without devices.
struct File {
    description: Description,
    tokenizer: Tokenizer,
    template: ChatTemplate,
}

impl Model {
    /// Opens a file, or all files of a split model by any of them.
    ///
    /// # Errors
    /// The file is damaged, or is not a model that weft runs.
    pub fn open(path: impl AsRef<Path>, backends: Vec<Arc<dyn Backend>>) -> Result<Arc<Self>, Error> {
        Self::new(Gguf::open(path)?, backends)
    }

    /// The model that is compiled in.
    ///
    /// # Errors
    /// As [`Model::open`].
    #[cfg(feature = "default-model")]
    pub fn default_model(backends: Vec<Arc<dyn Backend>>) -> Result<Arc<Self>, Error> {
        Self::new(crate::default_model::gguf()?, backends)
    }

    /// A model from an open file.
    ///
    /// # Errors
    /// It is not a model that weft runs.
    pub fn new(gguf: Gguf, backends: Vec<Arc<dyn Backend>>) -> Result<Arc<Self>, Error> {
        Self::with_sparse_form(gguf, backends, SparseForm::default())
    }

    /// A model from an open file, with this form of attention that chooses blocks.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn with_sparse_form(
        gguf: Gguf,
        backends: Vec<Arc<dyn Backend>>,
        form: SparseForm,
    ) -> Result<Arc<Self>, Error> {
        let gguf = Arc::new(gguf);
        let description = Description::new(Arc::clone(&gguf))?.with_sparse_form(form);
        let tokenizer = Tokenizer::from_gguf(&gguf, TokenizerOptions::default())?;
        let text = |id: Option<u32>| {
            let bytes = id.and_then(|id| tokenizer.token_bytes(id).ok());
            bytes.map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default()
        };
        let source = gguf.find::<&str>("tokenizer.chat_template")?;
        let template = ChatTemplate::new(source, &text(tokenizer.bos()), &text(tokenizer.eos()))?;
        let file = Arc::new(File { description, tokenizer, template });
        let (experts_on, draft) = (ExpertsOn::Gpu, None);
        Ok(Arc::new(Model { file, backends, experts_on, draft, weights: Mutex::default() }))
    }

    /// The same file on other devices, without reading it again. Weights and sessions stay where they were: after a device
    /// was lost, this model on the device opened anew, and new sessions on that, take the place of the old ones.
    pub fn on(&self, backends: Vec<Arc<dyn Backend>>) -> Arc<Self> {
        self.changed(|model| model.backends = backends)
    }

    /// The same but for a change, with no weights loaded.
    fn changed(&self, change: impl FnOnce(&mut Self)) -> Arc<Self> {
        let mut model = Model {
            file: Arc::clone(&self.file),
            backends: self.backends.clone(),
            experts_on: self.experts_on,
            draft: self.draft.clone(),
            weights: Mutex::default(),
        };
        change(&mut model);
        Arc::new(model)
    }

    /// The same file on the same devices with experts elsewhere, as [`Model::on`] otherwise.
    pub fn with_experts_on(&self, experts_on: ExpertsOn) -> Arc<Self> {
        self.changed(|model| model.experts_on = experts_on)
    }

    /// The same file on the same devices with the draft block of another, as [`Model::on`] otherwise. That file may hold
    /// nothing but the block, the embedding and the head.
    ///
    /// # Errors
    /// [`ModelError::NoDrafter`] if it has no such block, [`ModelError::Unfit`] if it belongs to a model of other sizes; and as
    /// [`Description::new`].
    pub fn with_drafter(&self, gguf: Gguf) -> Result<Arc<Self>, Error> {
        let draft = Description::new(Arc::new(gguf))?;
        let (own, other) = (self.description().hyper(), draft.hyper());
        let pairs = [
            ("general.architecture", own.architecture == other.architecture),
            ("embedding_length", own.embedding == other.embedding),
            ("block_count", own.layers == other.layers),
            ("the number of rows of token_embd.weight", own.vocabulary == other.vocabulary),
        ];
        if let Some((what, _)) = pairs.into_iter().find(|(_, equal)| !equal) {
            return Err(
                ModelError::unfit(draft.gguf(), what, "it must be that of the model it drafts for").into()
            );
        }
        draft.check_drafter(DType::F16.into())?;
        Ok(self.changed(|model| model.draft = Some(Arc::new(draft))))
    }

    /// Shape and graph of the draft block: of another file if one was given.
    pub fn drafter(&self) -> &Description {
        self.draft.as_deref().unwrap_or(&self.file.description)
    }

    /// Where experts are computed.
    pub fn experts_on(&self) -> ExpertsOn {
        self.experts_on
    }

    /// The graph of one ubatch, and the device of each node that is not the planner's to choose: see
    /// [`Options::placement`](weft_core::driver::Options::placement).
    ///
    /// # Errors
    /// As [`Description::graph`]; [`Error::Option`] if experts are to stay on a CPU that is not among the devices.
    pub fn placed_graph(&self, batch: &Batch) -> Result<(Graph, Vec<Option<usize>>), Error> {
        let description = if batch.draft { self.drafter() } else { self.description() };
        let (graph, experts) = description.graph_with_experts(batch)?;
        let mut placement = Vec::new();
        for part in experts.into_iter().filter(|part| self.experts_on.on_cpu(part.layer)) {
            let cpu = self.backends.iter().position(|backend| backend.name() == "cpu");
            let cpu = cpu.ok_or_else(|| Error::Option {
                name: "experts-on",
                value: self.experts_on.to_string(),
                why: "there is no CPU among the devices: open one behind the first",
            })?;
            placement.resize(graph.nodes.len(), None);
            placement[part.nodes].fill(Some(cpu));
        }
        Ok((graph, placement))
    }

    /// Shape and graphs.
    pub fn description(&self) -> &Description {
        &self.file.description
    }

    /// The file.
    pub fn gguf(&self) -> &Gguf {
        self.file.description.gguf()
    }

    /// The name in the file, else that of the file itself.
    pub fn name(&self) -> String {
        let named = self.gguf().find::<&str>("general.name").ok().flatten();
        named.map_or_else(|| self.gguf().file().to_owned(), str::to_owned)
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.file.tokenizer
    }

    /// The chat template.
    pub fn template(&self) -> &ChatTemplate {
        &self.file.template
    }

    /// Devices, the preferred first.
    pub fn backends(&self) -> &[Arc<dyn Backend>] {
        &self.backends
    }

    /// Puts all weights that the model's graph reads on the preferred device, but for experts that stay elsewhere; else each
    /// goes there when it is first needed. `progress` gets bytes done and bytes in all.
    ///
    /// # Errors
    /// The device has no memory left.
    pub fn load(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        let (graph, placement) = self.placed_graph(&Batch::token(1, DType::F16.into()))?;
        let mut devices = vec![0; graph.storages.len()];
        for (index, device) in placement.iter().enumerate() {
            let Some(device) = *device else { continue };
            let read = graph.reads(NodeId(index as u32));
            read.for_each(|tensor| devices[graph.tensor(tensor).storage.index()] = device);
        }
        let weights = || graph.storages.iter().zip(&devices).filter(|(s, _)| s.owner == Owner::Weight);
        let total = weights().map(|(s, _)| s.bytes).sum();
        let mut done = 0;
        for (storage, device) in weights().filter(|_| !self.backends.is_empty()) {
            self.weight(*device, false, &storage.name)?;
            done += storage.bytes;
            progress(done, total);
        }
        Ok(())
    }

    /// The buffers that a plan, of the draft block or the trunk, needs: weights from here, states from `states` by device and
    /// name.
    pub(crate) fn buffers(
        &self,
        plan: &Plan,
        draft: bool,
        mut states: impl FnMut(usize, &str, u64) -> Result<Buffer, DeviceError>,
    ) -> Result<Buffers, DeviceError> {
        let mut all = Vec::with_capacity(plan.devices.len());
        for (device, part) in plan.devices.iter().enumerate() {
            let mut buffers = HashMap::new();
            for (index, place) in part.places.iter().enumerate() {
                if *place != Some(Place::Own) {
                    continue;
                }
                let id = StorageId(index as u32);
                let storage = plan.graph.storage(id);
                let buffer = match storage.owner {
                    Owner::Weight => self.weight(device, draft, &storage.name)?,
                    _ => states(device, &storage.name, storage.bytes)?,
                };
                buffers.insert(id, buffer);
            }
            all.push(buffers);
        }
        Ok(all)
    }

    fn weight(&self, device: usize, draft: bool, name: &str) -> Result<Buffer, DeviceError> {
        let other = self.draft.as_ref().filter(|_| draft);
        let key = (device, other.is_some(), name.to_owned());
        let mut weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = weights.get(&key) {
            return Ok(known.clone());
        }
        let unreadable = |e: crate::gguf::GgufError| DeviceError::Unreadable {
            what: name.to_owned(),
            reason: e.to_string(),
        };
        let gguf = other.map_or(self.gguf(), |draft| draft.gguf());
        let entry = gguf.tensor(name).map_err(unreadable)?;
        let bytes: HostBytes = gguf.tensor_bytes(entry).map_err(unreadable)?;
        let layout = Layout::packed(entry.dtype, entry.shape).ok_or_else(|| DeviceError::Unreadable {
            what: name.to_owned(),
            reason: "its rows are no whole blocks".to_owned(),
        })?;
        let buffer = self.backends[device].import(name, Arc::new(bytes), &layout)?;
        weights.insert(key, buffer.clone());
        Ok(buffer)
    }
}
