//! A ubatch of which every value can be read, also as it was before any of its launches.

use super::Session;
use crate::Error;
use crate::models::{Batch, Rows, names};
use crate::sampling::SamplingError;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use weft_core::backend::Buffer;
use weft_core::graph::{Owner, StorageId, TensorId};
use weft_core::plan::Plan;
use weft_core::run::{RunError, Runner, Tickets};

/// A ubatch that has run, until the session goes on.
pub struct Inspection<'a> {
    session: &'a mut Session,
    batch: Batch,
    plan: Arc<Plan>,
    tickets: Tickets,
    /// States as they were before it.
    states: HashMap<(usize, String), Vec<u8>>,
    inputs: Vec<(StorageId, Vec<u8>)>,
}

impl Session {
    /// Processes tokens, one ubatch of them, and keeps all values until the session goes on. Logits are computed of every row.
    ///
    /// # Errors
    /// As [`Session::prefill`]; [`SessionOptions::keep_values`](super::SessionOptions::keep_values) is not set, or the tokens are
    /// more than a ubatch.
    pub fn inspect(&mut self, ids: &[u32]) -> Result<Inspection<'_>, Error> {
        self.check(ids)?;
        let refuse = |name, value: String, why| Err(Error::Option { name, value, why });
        if !self.options.keep_values {
            return refuse("keep_values", "false".to_owned(), "values can only be read where they are kept");
        }
        if ids.len() as u64 > self.options.ubatch {
            return refuse("ubatch", self.options.ubatch.to_string(), "it must hold all tokens to inspect");
        }
        let batch = self.batch(ids.len() as u64, Rows::All);
        // Makes the states' buffers, if they are not there yet.
        self.runner(batch.into())?;
        let states = self.read_states()?;
        let tickets = self.submit(batch, ids)?;
        self.unread = None;
        self.tokens.extend_from_slice(ids);
        let plan = Arc::clone(self.last_runner()?.plan());
        let inputs =
            self.inputs.given(&plan.graph).into_iter().map(|(id, bytes)| (id, bytes.to_vec())).collect();
        Ok(Inspection { session: self, batch, plan, tickets, states, inputs })
    }

    fn read_states(&self) -> Result<HashMap<(usize, String), Vec<u8>>, Error> {
        let read = |((device, name), buffer): (&(usize, String), &Buffer)| {
            let mut bytes = vec![0; buffer.bytes as usize];
            self.model.backends()[*device].read(buffer, 0, &mut bytes)?;
            Ok(((*device, name.clone()), bytes))
        };
        self.states.iter().map(read).collect()
    }
}

impl Inspection<'_> {
    /// How it ran.
    pub fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// A tensor's bytes, packed, as a device holds them at the end.
    ///
    /// # Errors
    /// The device does not touch the storage, or was lost.
    pub fn tensor(&mut self, device: usize, tensor: TensorId) -> Result<Vec<u8>, Error> {
        let mut into = vec![0; self.plan.graph.tensor(tensor).layout.bytes() as usize];
        let runner = self.session.last_runner()?;
        runner.tensor(&self.tickets, device, tensor, &mut into, "a value")?;
        Ok(into)
    }

    /// The likeliest token after the last one.
    ///
    /// # Errors
    /// No logit is a number; the device was lost.
    pub fn likeliest(&mut self) -> Result<u32, Error> {
        let vocabulary = self.session.logits.len();
        let mut rows = vec![0.0f32; vocabulary * self.batch.tokens as usize];
        self.session.output(&self.tickets, names::LOGITS, bytemuck::cast_slice_mut(&mut rows))?;
        let last = &rows[rows.len() - vocabulary..];
        let finite = last.iter().enumerate().filter(|(_, logit)| logit.is_finite());
        let best = finite.max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i)));
        let (id, _) = best.ok_or(SamplingError::NoneFinite { count: vocabulary })?;
        Ok(id as u32)
    }

    /// What storages held before the launch of an index, by storage. Runs all before it anew, from the same states.
    ///
    /// # Errors
    /// A storage is touched by no device; a device was lost.
    pub fn before(
        &mut self,
        dispatch: usize,
        storages: &[StorageId],
    ) -> Result<BTreeMap<StorageId, Vec<u8>>, Error> {
        let plan = self.plan().before(dispatch);
        let (graph, devices) = (Arc::clone(&plan.graph), plan.devices.clone());
        self.restore()?;
        let mut run = None;
        if dispatch > 0 {
            let states = &self.session.states;
            let buffers = self.session.model.buffers(&plan, self.batch.draft, |device, name, bytes| {
                let known = states.get(&(device, name.to_owned())).cloned();
                known.map_or_else(|| self.session.model.backends()[device].allocate(name, bytes), Ok)
            })?;
            let mut runner = Runner::of(plan, self.session.model.backends(), &buffers)?;
            let given: Vec<_> = self.inputs.iter().map(|(id, bytes)| (*id, bytes.as_slice())).collect();
            let tickets = runner.run(&given, None)?;
            run = Some((runner, tickets));
        }
        let mut found = BTreeMap::new();
        for storage in storages {
            let what = graph.storage(*storage);
            let bytes = match what.owner {
                Owner::Input => {
                    self.inputs.iter().find(|(id, _)| id == storage).map(|(_, bytes)| bytes.clone())
                }
                Owner::Weight => {
                    let gguf = self.session.model.gguf();
                    Some(gguf.tensor_bytes(gguf.tensor(&what.name)?)?.as_ref().to_vec())
                }
                Owner::State => {
                    let held = self.session.states.iter().find(|((_, name), _)| *name == what.name);
                    let read = |((device, _), buffer): (&(usize, String), &Buffer)| {
                        let mut bytes = vec![0; what.bytes as usize];
                        self.session.model.backends()[*device].read(buffer, 0, &mut bytes)?;
                        Ok::<_, Error>(bytes)
                    };
                    held.map(read).transpose()?
                }
                Owner::Activation => {
                    let device = devices.iter().position(|part| part.places[storage.index()].is_some());
                    let read = |(device, (runner, tickets)): (usize, &mut (Runner, Tickets))| {
                        let mut bytes = vec![0; what.bytes as usize];
                        runner.storage(tickets, device, *storage, &mut bytes)?;
                        Ok::<_, Error>(bytes)
                    };
                    device.zip(run.as_mut()).map(read).transpose()?
                }
            };
            let missing = || RunError::NoInput { name: format!("{} (storage {})", what.name, storage.0) };
            found.insert(*storage, bytes.ok_or_else(missing)?);
        }
        drop(run);
        self.again()?;
        Ok(found)
    }

    /// Brings the states back to before the ubatch.
    fn restore(&mut self) -> Result<(), Error> {
        for (key, buffer) in &self.session.states {
            if let Some(bytes) = self.states.get(key) {
                self.session.model.backends()[key.0].write(buffer, 0, bytes)?;
            }
        }
        Ok(())
    }

    /// Runs the ubatch anew, so that states and values are those at its end.
    fn again(&mut self) -> Result<(), Error> {
        self.restore()?;
        let given: Vec<_> = self.inputs.iter().map(|(id, bytes)| (*id, bytes.as_slice())).collect();
        let runner = self.session.last_runner()?;
        self.tickets = runner.run(&given, None)?;
        Ok(())
    }
}
