//! A model that is open: its file, tokenizer, template and weights on devices.

use crate::Error;
use crate::gguf::{Gguf, HostBytes};
use crate::models::{Batch, Description, SparseForm};
use crate::template::ChatTemplate;
use crate::tokenizer::{Tokenizer, TokenizerOptions};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::{Backend, Buffer, DeviceError};
use weft_core::graph::{DType, Layout, Owner, StorageId};
use weft_core::plan::{Place, Plan};
use weft_core::run::Buffers;

/// A model with its devices. Sessions share it; weights are on each device once.
pub struct Model {
    file: Arc<File>,
    backends: Vec<Arc<dyn Backend>>,
    weights: Mutex<HashMap<(usize, String), Buffer>>,
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
        Ok(Arc::new(Model { file, backends, weights: Mutex::default() }))
    }

    /// The same file on other devices, without reading it again. Weights and sessions stay where they were: after a device
    /// was lost, this model on the device opened anew, and new sessions on that, take the place of the old ones.
    pub fn on(&self, backends: Vec<Arc<dyn Backend>>) -> Arc<Self> {
        Arc::new(Model { file: Arc::clone(&self.file), backends, weights: Mutex::default() })
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

    /// Puts all weights that the model's graph reads on the preferred device; else each goes there when it is first
    /// needed. `progress` gets bytes done and bytes in all.
    ///
    /// # Errors
    /// The device has no memory left.
    pub fn load(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        let graph = self.description().graph(&Batch::token(1, DType::F16.into()))?;
        let weights = || graph.storages.iter().filter(|s| s.owner == Owner::Weight);
        let total = weights().map(|s| s.bytes).sum();
        let mut done = 0;
        for storage in weights().filter(|_| !self.backends.is_empty()) {
            self.weight(0, &storage.name)?;
            done += storage.bytes;
            progress(done, total);
        }
        Ok(())
    }

    /// The buffers that a plan needs: weights from here, states from `states` by device and name.
    pub(crate) fn buffers(
        &self,
        plan: &Plan,
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
                    Owner::Weight => self.weight(device, &storage.name)?,
                    _ => states(device, &storage.name, storage.bytes)?,
                };
                buffers.insert(id, buffer);
            }
            all.push(buffers);
        }
        Ok(all)
    }

    fn weight(&self, device: usize, name: &str) -> Result<Buffer, DeviceError> {
        let mut weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = weights.get(&(device, name.to_owned())) {
            return Ok(known.clone());
        }
        let unreadable = |e: crate::gguf::GgufError| DeviceError::Unreadable {
            what: name.to_owned(),
            reason: e.to_string(),
        };
        let gguf = self.gguf();
        let entry = gguf.tensor(name).map_err(unreadable)?;
        let bytes: HostBytes = gguf.tensor_bytes(entry).map_err(unreadable)?;
        let layout = Layout::packed(entry.dtype, entry.shape).ok_or_else(|| DeviceError::Unreadable {
            what: name.to_owned(),
            reason: "its rows are no whole blocks".to_owned(),
        })?;
        let buffer = self.backends[device].import(name, Arc::new(bytes), &layout)?;
        weights.insert((device, name.to_owned()), buffer.clone());
        Ok(buffer)
    }
}
