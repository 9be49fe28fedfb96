//! From a graph to results: plan, compile, give back what cannot be built, run split by split.

use crate::backend::{Backend, Buffer, CompileRequest, DeviceError, Program, Ticket};
use crate::driver::{Forbidden, Offered, Options, State};
use crate::graph::{DType, Graph, StorageId, TensorId};
use crate::kernels::KernelError;
use crate::plan::{self, Checked, NotFinite, Plan, PlanError, Tally, Transfer};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use tracing::trace_span;

/// Why a graph could not be prepared or run.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum RunError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("output `{name}` does not exist; the graph has: {known}")]
    NoOutput { name: String, known: String },
    #[error("input `{name}` does not exist in the graph")]
    NoInput { name: String },
    #[error(
        "{node} made a value that is not finite: number {} of row {} at port `{}` of dispatch {} ({kernel})",
        at.index, at.row, at.port, at.dispatch
    )]
    NotFinite { node: String, kernel: String, at: NotFinite },
    #[error("`{name}` holds {got} bytes, {want} expected")]
    Size { name: String, got: usize, want: u64 },
    #[error("no values of type {dtype} can be made: give the tensor")]
    NoValues { dtype: DType },
    #[error("a reference kernel failed: {0}")]
    Reference(#[from] KernelError),
}

/// Buffers of weights and states, per device.
pub type Buffers = Vec<HashMap<StorageId, Buffer>>;

/// A compiled plan, ready to run.
pub struct Runner {
    plan: Arc<Plan>,
    tally: Tally,
    programs: Vec<Option<Box<dyn Program>>>,
    /// What devices compiled, if it looks for values that are not finite.
    checked: Option<Checked>,
    staging: Vec<u8>,
}

impl Runner {
    /// Plans and compiles a graph. `buffers` is asked, per device, for the weights and states that a plan needs there.
    ///
    /// A dispatch that cannot be built revokes its claim: its nodes go back, planning goes on, and the plan's trail keeps
    /// the reason.
    ///
    /// # Errors
    /// No plan covers the graph, or a device failed for another reason than one dispatch.
    pub fn prepare(
        graph: &Arc<Graph>,
        backends: &[Arc<dyn Backend>],
        options: &Options,
        buffers: impl FnMut(&Plan) -> Result<Buffers, DeviceError>,
    ) -> Result<Self, RunError> {
        Self::prepare_with(graph, backends, options, false, buffers)
    }

    /// The same, and each run looks for values that are not finite if `finite` is set: see [`RunError::NotFinite`]. Plan and
    /// results are those without.
    ///
    /// # Errors
    /// As [`Runner::prepare`].
    pub fn prepare_with(
        graph: &Arc<Graph>,
        backends: &[Arc<dyn Backend>],
        options: &Options,
        finite: bool,
        mut buffers: impl FnMut(&Plan) -> Result<Buffers, DeviceError>,
    ) -> Result<Self, RunError> {
        let offered: Vec<Offered<'_>> =
            backends.iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
        let mut options = options.clone();
        loop {
            let mut plan =
                trace_span!("plan").in_scope(|| plan::build(Arc::clone(graph), &offered, &options))?;
            let buffers = trace_span!("buffers").in_scope(|| buffers(&plan))?;
            let checked = finite.then(|| Checked::of(&plan, &offered));
            let compiled = trace_span!("compile").in_scope(|| {
                compile(checked.as_ref().map_or(&plan, |checked| &checked.plan), backends, &buffers)
            });
            match compiled.map_err(|error| original(checked.as_ref(), error)) {
                Ok(programs) => {
                    for attempt in &mut plan.trail {
                        if let State::Claimed { dispatch } = attempt.state {
                            attempt.state = State::Executable { dispatch };
                        }
                    }
                    return Ok(Runner { checked, ..Self::compiled(plan, programs) });
                }
                Err(DeviceError::Dispatch { index, kernel, reason }) if kernel != "finite" => {
                    let Some(failed) = plan.dispatches.get(index) else {
                        return Err(DeviceError::Dispatch { index, kernel, reason }.into());
                    };
                    let forbidden = Forbidden {
                        rule: failed.rule,
                        nodes: failed.nodes.clone(),
                        variant: failed.variant,
                        device: plan.devices[failed.device].name.clone(),
                        reason: reason.clone(),
                    };
                    // A claim that fails again although it was forbidden would loop for ever.
                    if options.forbidden.contains(&forbidden) {
                        return Err(DeviceError::Dispatch { index, kernel, reason }.into());
                    }
                    options.forbidden.push(forbidden);
                }
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// Compiles a plan as it is. Nothing is planned anew.
    ///
    /// # Errors
    /// A device refused it.
    pub fn of(plan: Plan, backends: &[Arc<dyn Backend>], buffers: &Buffers) -> Result<Self, DeviceError> {
        let programs = compile(&plan, backends, buffers)?;
        Ok(Self::compiled(plan, programs))
    }

    fn compiled(plan: Plan, programs: Vec<Option<Box<dyn Program>>>) -> Self {
        let tally = plan.tally();
        Runner { plan: Arc::new(plan), tally, programs, checked: None, staging: Vec::new() }
    }

    /// The plan that is run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// What each run does, in numbers.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Runs the plan once and waits for it. `inputs` are (storage, bytes) pairs.
    ///
    /// # Errors
    /// An input is unknown or of another size; a kernel refused its data; the run was cancelled; the device was lost.
    pub fn run(
        &mut self,
        inputs: &[(StorageId, &[u8])],
        cancel: Option<&AtomicBool>,
    ) -> Result<Tickets, RunError> {
        let tickets = self.start(inputs, cancel).map_err(|error| self.original(error))?;
        self.look(&tickets).map_err(|error| self.original(error))?;
        Ok(tickets)
    }

    /// Looks at what the checks of a run found, if there are any.
    fn look(&mut self, tickets: &Tickets) -> Result<(), RunError> {
        let Some(checked) = self.checked.take() else { return Ok(()) };
        let found = self.found(&checked, tickets);
        self.checked = Some(checked);
        let Some(at) = found? else { return Ok(()) };
        let dispatch = &self.plan.dispatches[at.dispatch];
        let node = dispatch.nodes.last().map_or_else(String::new, |node| self.plan.graph.describe(*node));
        Err(RunError::NotFinite { node, kernel: format!("{}/{}", dispatch.kernel, dispatch.variant), at })
    }

    fn found(&mut self, checked: &Checked, tickets: &Tickets) -> Result<Option<NotFinite>, RunError> {
        let mut words = Vec::with_capacity(self.programs.len());
        for (device, flags) in checked.flags().enumerate() {
            let mut bytes = Vec::new();
            if let Some((storage, count)) = flags {
                bytes.resize(count as usize * 4, 0);
                self.storage(tickets, device, storage, &mut bytes)?;
            }
            words.push(bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect());
        }
        Ok(checked.first(&words))
    }

    /// The error by the plan's own dispatches, not by those that were compiled.
    fn original(&self, error: RunError) -> RunError {
        match error {
            RunError::Device(error) => original(self.checked.as_ref(), error).into(),
            other => other,
        }
    }

    fn start(
        &mut self,
        inputs: &[(StorageId, &[u8])],
        cancel: Option<&AtomicBool>,
    ) -> Result<Tickets, RunError> {
        for (storage, bytes) in inputs {
            let known = self.plan.graph.storages.get(storage.index());
            let want = known.ok_or_else(|| RunError::NoInput { name: format!("{storage:?}") })?;
            if want.bytes != bytes.len() as u64 {
                return Err(RunError::Size { name: want.name.clone(), got: bytes.len(), want: want.bytes });
            }
        }
        let mut tickets = Vec::with_capacity(self.programs.len());
        trace_span!("upload").in_scope(|| -> Result<(), DeviceError> {
            for program in &mut self.programs {
                tickets.push(program.as_mut().map(|p| p.begin(inputs)).transpose()?);
            }
            Ok(())
        })?;
        let tickets = Tickets(tickets);
        let plan = Arc::clone(&self.plan);
        for (index, split) in plan.splits.iter().enumerate() {
            self.transfer(&tickets, &split.copies)?;
            if let (Some(Some(program)), Some(Some(ticket))) =
                (self.programs.get_mut(split.device), tickets.0.get(split.device))
            {
                trace_span!("submit", split = index).in_scope(|| program.submit(*ticket, index, cancel))?;
            }
        }
        self.transfer(&tickets, &plan.last_copies)?;
        Ok(tickets)
    }

    /// Copies an output's bytes, packed, into `into`.
    ///
    /// # Errors
    /// The output does not exist, or `into` has another size.
    pub fn output(&mut self, tickets: &Tickets, name: &str, into: &mut [u8]) -> Result<(), RunError> {
        self.read_output(tickets, name, into).map_err(|error| self.original(error))
    }

    fn read_output(&mut self, tickets: &Tickets, name: &str, into: &mut [u8]) -> Result<(), RunError> {
        let plan = Arc::clone(&self.plan);
        let at = plan.graph.outputs.iter().position(|(n, _)| n == name);
        let Some((index, tensor)) = at.map(|index| (index, plan.graph.outputs[index].1)) else {
            let known = plan.graph.outputs.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>().join(", ");
            return Err(RunError::NoOutput { name: name.to_owned(), known });
        };
        trace_span!("wait", output = name)
            .in_scope(|| self.tensor(tickets, plan.output_devices[index], tensor, into, name))
    }

    /// Copies bytes of a storage as a device holds them after a run. Those of an activation are only there if
    /// [`Options::keep_values`] was set.
    ///
    /// # Errors
    /// The device does not touch the storage, or the bytes lie outside.
    pub fn storage(
        &mut self,
        tickets: &Tickets,
        device: usize,
        storage: StorageId,
        into: &mut [u8],
    ) -> Result<(), RunError> {
        let (program, ticket) = self.submitted(tickets, device, storage)?;
        Ok(program.read(ticket, storage, 0, into)?)
    }

    /// Copies a tensor's bytes, packed, as a device holds them after a run, as [`Runner::storage`] otherwise.
    ///
    /// # Errors
    /// The device does not touch the storage, or `into` has another size. `name` is what the error calls it.
    pub fn tensor(
        &mut self,
        tickets: &Tickets,
        device: usize,
        tensor: TensorId,
        into: &mut [u8],
        name: &str,
    ) -> Result<(), RunError> {
        let tensor = *self.plan.graph.tensor(tensor);
        let want = tensor.layout.bytes();
        if want != into.len() as u64 {
            return Err(RunError::Size { name: name.to_owned(), got: into.len(), want });
        }
        let (program, ticket) = self.submitted(tickets, device, tensor.storage)?;
        let mut at = 0;
        let mut failed = None;
        tensor.layout.in_order(|offset, bytes| {
            if failed.is_none() {
                let part = &mut into[at..at + bytes];
                failed = program.read(ticket, tensor.storage, offset, part).err();
                at += bytes;
            }
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// The program of a device that ran, and its submission.
    fn submitted(
        &mut self,
        tickets: &Tickets,
        device: usize,
        storage: StorageId,
    ) -> Result<(&mut dyn Program, Ticket), DeviceError> {
        match (self.programs.get_mut(device), tickets.0.get(device)) {
            (Some(Some(program)), Some(Some(ticket))) => Ok((program.as_mut(), *ticket)),
            _ => Err(DeviceError::NoBuffer { storage }),
        }
    }

    fn transfer(&mut self, tickets: &Tickets, copies: &[Transfer]) -> Result<(), RunError> {
        for copy in copies {
            let mut runs = Vec::new();
            copy.layout.for_each_run(|range| runs.push(range));
            for range in runs {
                self.staging.resize((range.end - range.start) as usize, 0);
                if let (Some(Some(from)), Some(Some(ticket))) =
                    (self.programs.get_mut(copy.from), tickets.0.get(copy.from))
                {
                    from.read(*ticket, copy.storage, range.start, &mut self.staging)?;
                }
                if let (Some(Some(to)), Some(Some(ticket))) =
                    (self.programs.get_mut(copy.to), tickets.0.get(copy.to))
                {
                    to.write(*ticket, copy.storage, range, &self.staging)?;
                }
            }
        }
        Ok(())
    }
}

/// The submissions of one run, per device.
#[derive(Clone, Debug)]
pub struct Tickets(Vec<Option<Ticket>>);

/// An error of what was compiled, by the dispatches of the plan.
fn original(checked: Option<&Checked>, error: DeviceError) -> DeviceError {
    let origin = |index: usize| checked.and_then(|checked| checked.origin(index)).unwrap_or(index);
    match error {
        DeviceError::Dispatch { index, kernel, reason } if kernel != "finite" => {
            DeviceError::Dispatch { index: origin(index), kernel, reason }
        }
        DeviceError::Kernel { index, kernel, source } => {
            DeviceError::Kernel { index: origin(index), kernel, source }
        }
        other => other,
    }
}

fn compile(
    plan: &Plan,
    backends: &[Arc<dyn Backend>],
    buffers: &Buffers,
) -> Result<Vec<Option<Box<dyn Program>>>, DeviceError> {
    let none = HashMap::new();
    let touches = |device: usize| {
        plan.devices[device].places.iter().any(Option::is_some)
            || plan.splits.iter().any(|s| s.device == device)
    };
    (0..plan.devices.len())
        .map(|device| {
            if !touches(device) {
                return Ok(None);
            }
            let buffers = buffers.get(device).unwrap_or(&none);
            backends[device].compile(&CompileRequest { plan, device, buffers }).map(Some)
        })
        .collect()
}
