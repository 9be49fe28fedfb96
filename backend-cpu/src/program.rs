//! A compiled plan: jobs in phases, the arena, the block of inputs.

use crate::job::{Args, Job, ScratchPlan, ScratchPool, Worker};
use crate::kernels::Implementation;
use crate::memory::Memory;
use crate::poison;
use crate::profile::{Clock, Watch};
use crate::simd::Simd;
use crate::team::{Barrier, Team};
use crate::view::View;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::{Buffer, CompileRequest, DeviceError, Program, Ticket};
use weft_core::graph::StorageId;
use weft_core::kernels::KernelError;
use weft_core::plan::{Place, Plan};
use weft_core::profile::{Profile, Timed};

/// What a program needs from its backend.
pub(crate) struct Setup {
    pub simd: Simd,
    pub team: Arc<Team>,
    pub implementations: Arc<Vec<Implementation>>,
    pub poison: bool,
    pub idle: bool,
    /// Where times go, if launches are timed.
    pub profile: Option<Arc<Profile>>,
}

struct Built {
    index: usize,
    kernel: &'static str,
    job: Box<dyn Job>,
    /// Ports to be filled with NaN first, where asked.
    poisoned: Vec<View>,
}

/// Jobs between two barriers.
struct Phase {
    jobs: Range<usize>,
    stages: usize,
}

pub(crate) struct CpuProgram {
    team: Arc<Team>,
    poison: bool,
    jobs: Vec<Built>,
    /// Per split of the plan its phases; empty for splits of other devices.
    splits: Vec<Vec<Phase>>,
    places: Vec<Option<(Arc<Memory>, u64)>>,
    sizes: Vec<u64>,
    inputs: Vec<bool>,
    _scratch: Arc<ScratchPool>,
    ticket: u64,
    clock: Option<Clock>,
}

/// A buffer's memory.
pub(crate) fn memory(buffer: &Buffer) -> Option<&Arc<Memory>> {
    buffer.handle.downcast_ref::<Arc<Memory>>()
}

impl CpuProgram {
    pub(crate) fn compile(setup: &Setup, request: &CompileRequest<'_>) -> Result<Self, DeviceError> {
        let plan = request.plan;
        let part = &plan.devices[request.device];
        let arena = Arc::new(Memory::zeroed("activations", part.arena_bytes)?);
        let block = Arc::new(Memory::zeroed("inputs", part.input_bytes)?);
        let mut places = Vec::with_capacity(part.places.len());
        for (index, place) in part.places.iter().enumerate() {
            let storage = StorageId(index as u32);
            places.push(match place {
                None => None,
                Some(Place::Arena(offset)) => Some((Arc::clone(&arena), *offset)),
                Some(Place::Input(offset)) => Some((Arc::clone(&block), *offset)),
                Some(Place::Own) => {
                    let own = request.buffers.get(&storage).and_then(memory);
                    Some((Arc::clone(own.ok_or(DeviceError::NoBuffer { storage })?), 0))
                }
            });
        }
        let mut scratch = ScratchPlan::new();
        let mut program = CpuProgram {
            team: Arc::clone(&setup.team),
            poison: setup.poison,
            jobs: Vec::new(),
            splits: Vec::new(),
            places,
            sizes: plan.graph.storages.iter().map(|s| s.bytes).collect(),
            inputs: part.places.iter().map(|p| matches!(p, Some(Place::Input(_)))).collect(),
            _scratch: Arc::clone(&scratch.pool),
            ticket: 0,
            clock: None,
        };
        for split in &plan.splits {
            let mut phases = Vec::new();
            if split.device == request.device {
                program.build_split(setup, plan, split.first..split.end, &mut scratch, &mut phases)?;
            }
            program.splits.push(phases);
        }
        if let Some(profile) = &setup.profile {
            let indices: Vec<usize> = program.jobs.iter().map(|built| built.index).collect();
            let timed = Timed::of(plan, request.device, &indices);
            program.clock = Some(Clock::new(timed, Arc::clone(profile)));
        }
        let memory = Memory::zeroed("scratch", scratch.peak as u64)?;
        // The pool is new: nothing was set before.
        let _ = scratch.pool.0.set(memory);
        Ok(program)
    }

    fn build_split(
        &mut self,
        setup: &Setup,
        plan: &Plan,
        dispatches: Range<usize>,
        scratch: &mut ScratchPlan,
        phases: &mut Vec<Phase>,
    ) -> Result<(), DeviceError> {
        let mut current = None;
        for index in dispatches {
            let dispatch = &plan.dispatches[index];
            // Poisoning writes whole outputs: then each dispatch gets a phase of its own.
            if current != Some(dispatch.phase) || setup.poison {
                current = Some(dispatch.phase);
                scratch.next_phase();
                phases.push(Phase { jobs: self.jobs.len()..self.jobs.len(), stages: 0 });
            }
            let kernel = dispatch.kernel;
            let failed = |reason: String| DeviceError::Dispatch { index, kernel, reason };
            let views = dispatch
                .bindings
                .iter()
                .map(|b| b.map(|b| self.view(b.port, &b.tensor)).transpose())
                .collect::<Result<Vec<_>, _>>()?;
            let built = setup
                .implementations
                .iter()
                .find(|i| i.offer.contract.kernel == kernel && i.offer.variant == dispatch.variant);
            let built = built.ok_or_else(|| failed("no such variant".to_owned()))?;
            let mut args =
                Args { dispatch, views: &views, simd: setup.simd, workers: setup.team.count(), scratch };
            let job = (built.build)(&mut args).map_err(|e| failed(e.to_string()))?;
            let job = if setup.idle { Box::new(Idle) } else { job };
            let poisoned = if setup.poison { poison::outputs(dispatch, &views) } else { Vec::new() };
            if let Some(phase) = phases.last_mut() {
                phase.jobs.end += 1;
                phase.stages = phase.stages.max(job.stages());
            }
            self.jobs.push(Built { index, kernel, job, poisoned });
        }
        Ok(())
    }

    fn view(&self, name: &'static str, tensor: &weft_core::graph::Tensor) -> Result<View, DeviceError> {
        let storage = tensor.storage;
        let place = self.places.get(storage.index()).and_then(Option::as_ref);
        let (memory, offset) = place.ok_or(DeviceError::NoBuffer { storage })?;
        let bytes = memory.bytes() as u64 - (*offset).min(memory.bytes() as u64);
        let outside = |end| DeviceError::Outside { start: tensor.layout.offset, end, bytes };
        match tensor.layout.range() {
            Some(range) if range.end <= bytes => {}
            Some(range) => return Err(outside(range.end)),
            None => return Err(outside(u64::MAX)),
        }
        let base = memory.start().wrapping_add(*offset as usize);
        let bytes = self.sizes[storage.index()].min(bytes) as usize;
        Ok(View { name, base, bytes, layout: tensor.layout })
    }

    fn place(&self, storage: StorageId) -> Result<(&Memory, u64), DeviceError> {
        let place = self.places.get(storage.index()).and_then(Option::as_ref);
        place.map(|(memory, offset)| (memory.as_ref(), *offset)).ok_or(DeviceError::NoBuffer { storage })
    }
}

impl Program for CpuProgram {
    fn begin(&mut self, inputs: &[(StorageId, &[u8])]) -> Result<Ticket, DeviceError> {
        for (storage, bytes) in inputs {
            // An input that no dispatch here reads has no place.
            if self.inputs.get(storage.index()).copied().unwrap_or(false) {
                let (memory, offset) = self.place(*storage)?;
                memory.write(offset, bytes)?;
            }
        }
        self.ticket += 1;
        Ok(Ticket(self.ticket))
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        split: usize,
        cancel: Option<&AtomicBool>,
    ) -> Result<(), DeviceError> {
        let Some(phases) = self.splits.get(split) else { return Ok(()) };
        let stop = AtomicBool::new(false);
        let failure: Mutex<Option<DeviceError>> = Mutex::new(None);
        let fail = |error: DeviceError| {
            stop.store(true, Ordering::Relaxed);
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        };
        let (jobs, clock) = (&self.jobs, &self.clock);
        let poison = self.poison;
        self.team.run(&|worker: &mut Worker, barrier: &Barrier| {
            let mut watch = clock.as_ref().map(|clock| clock.watch(ticket, worker.index));
            for phase in phases {
                if worker.index == 0 && cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                    fail(DeviceError::Cancelled);
                }
                if poison {
                    if worker.index == 0 {
                        jobs[phase.jobs.clone()].iter().flat_map(|j| &j.poisoned).for_each(poison::fill);
                    }
                    barrier.wait();
                }
                for stage in 0..phase.stages {
                    for (at, built) in phase.jobs.clone().zip(&jobs[phase.jobs.clone()]) {
                        if stage < built.job.stages() && !stop.load(Ordering::Relaxed) {
                            let start = watch.as_ref().map(Watch::now);
                            run_job(built, stage, worker, &fail);
                            if let (Some(watch), Some(start)) = (&mut watch, start) {
                                watch.ended(at, start);
                            }
                        }
                    }
                    barrier.wait();
                }
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn poll(&mut self, _: Ticket) -> Result<bool, DeviceError> {
        Ok(true)
    }

    fn read(
        &mut self,
        _: Ticket,
        storage: StorageId,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        let (memory, start) = self.place(storage)?;
        memory.read(start + offset, into)
    }

    fn write(
        &mut self,
        _: Ticket,
        storage: StorageId,
        range: Range<u64>,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        let (memory, start) = self.place(storage)?;
        memory.write(start + range.start, bytes)
    }
}

/// Stands in for every job where only the host's overhead is measured.
struct Idle;

impl Job for Idle {
    fn run(&self, _: usize, _: &mut Worker) -> Result<(), KernelError> {
        Ok(())
    }
}

/// Runs one share. A panic becomes the run's error; the worker goes on to the barrier, where the others wait for it.
fn run_job(built: &Built, stage: usize, worker: &mut Worker, fail: &dyn Fn(DeviceError)) {
    let outcome = catch_unwind(AssertUnwindSafe(|| built.job.run(stage, worker)));
    let (index, kernel) = (built.index, built.kernel);
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(source)) => fail(DeviceError::Kernel { index, kernel, source }),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            fail(DeviceError::Kernel { index, kernel, source: KernelError::Worker { message } });
        }
    }
}
