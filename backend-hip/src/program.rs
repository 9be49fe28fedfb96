//! A compiled plan: launches with functions and arguments made, the arena, and what each submission owns.

use crate::arguments::Shared;
use crate::code::Code;
use crate::kernels::Implementation;
use crate::launches::launches;
use crate::memory::{Memory, Region};
use crate::profile::Clock;
use crate::ready::{Ready, ready};
use crate::replay::Replay;
use crate::slots::{FAULT, Slots};
use crate::stream::{Event, Stream};
use crate::transfer::Transfer;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_core::backend::{Buffer, CompileRequest, DeviceError, Program, Ticket};
use weft_core::fault::FaultNames;
use weft_core::graph::StorageId;
use weft_core::plan::Place;
use weft_core::profile::{Profile, Timed};

/// What a program needs from its backend.
pub(crate) struct Setup {
    pub stream: Arc<Stream>,
    pub transfer: Arc<Transfer>,
    pub code: Code,
    pub implementations: Vec<Implementation>,
    pub poison: bool,
    /// Whether what runs again is submitted as graphs.
    pub graphs: bool,
    /// Where times go, if launches are timed.
    pub profile: Option<Arc<Profile>>,
}

/// Work of about 50 ms on a middling GPU: a longer split is cut, so that it can be cancelled.
const PART_FLOPS: u64 = 400_000_000_000;

/// Outputs up to this many bytes come back with the submission that makes them; larger ones when they are asked for.
const MAILED: u64 = 64 << 10;

pub(crate) struct HipProgram {
    stream: Arc<Stream>,
    transfer: Arc<Transfer>,
    /// By split, where graphs are wanted. Before the launches, since graphs use their functions.
    replays: Vec<Replay>,
    launches: Vec<Ready>,
    /// Per split of the plan its parts as ranges of launches; empty for splits of other devices.
    splits: Vec<Vec<Range<usize>>>,
    /// The last split on this device.
    last: usize,
    places: Vec<Option<Region>>,
    inputs: Region,
    fault: Region,
    /// Activations, and what launches keep between them: kernels know their addresses.
    own: [Region; 2],
    /// Whether these are filled with NaN before each submission.
    poison: bool,
    slots: Slots,
    /// Behind each of the last two parts.
    parts: [Event; 2],
    faults: FaultNames,
    /// By storage, whether it is an input.
    is_input: Vec<bool>,
    clock: Option<Clock>,
}

/// The region of a buffer of this backend.
pub(crate) fn region(buffer: &Buffer) -> Result<&Region, DeviceError> {
    let foreign = || DeviceError::Lost { reason: "the buffer belongs to another backend".to_owned() };
    buffer.handle.downcast_ref::<Region>().ok_or_else(foreign)
}

impl HipProgram {
    pub(crate) fn compile(setup: &Setup, request: &CompileRequest<'_>) -> Result<Self, DeviceError> {
        let (plan, stream) = (request.plan, &setup.stream);
        let part = &plan.devices[request.device];
        let own = |what: &str, bytes: u64| -> Result<Region, DeviceError> {
            let region = Region::whole(Memory::new(stream.device(), what, bytes)?);
            stream.fill(&region.memory, 0, region.bytes, 0)?;
            Ok(region)
        };
        let arena = own("activations", part.arena_bytes)?;
        let inputs = own("inputs", part.input_bytes)?;
        let fault = own("faults", FAULT)?;
        let mut places = Vec::with_capacity(part.places.len());
        for (index, place) in part.places.iter().enumerate() {
            let storage = StorageId(index as u32);
            let bytes = plan.graph.storages[index].bytes;
            let part_of = |region: &Region, offset: u64| Region { offset, bytes, ..region.clone() };
            places.push(match place {
                None => None,
                Some(Place::Arena(offset)) => Some(part_of(&arena, *offset)),
                Some(Place::Input(offset)) => Some(part_of(&inputs, *offset)),
                Some(Place::Own) => {
                    let buffer = request.buffers.get(&storage).ok_or(DeviceError::NoBuffer { storage })?;
                    Some(region(buffer)?.clone())
                }
            });
        }
        let rows = |storage: StorageId| places.get(storage.index())?.as_ref()?.rows;
        let (planned, scratch_bytes) = launches(&setup.implementations, plan, request.device, rows)?;
        let scratch = own("scratch", scratch_bytes)?;
        let shared = Shared { fault: fault.address(0), scratch: scratch.address(0) };
        let ready = ready(setup, plan, &planned, &places, shared)?;
        let indices: Vec<usize> = planned.iter().map(|(index, _)| *index).collect();
        let mailed = plan.small_outputs(request.device, &places, |region| region.bytes, MAILED);
        let clock = match &setup.profile {
            None => None,
            Some(profile) => {
                Some(Clock::new(stream, Timed::of(plan, request.device, &indices), Arc::clone(profile))?)
            }
        };
        // Events between launches cannot be part of a graph.
        let graphs = setup.graphs && clock.is_none();
        let splits = plan.splits.iter().filter(|_| graphs);
        let replays = splits.map(|split| Replay::new(plan, split, &places, &fault)).collect();
        Ok(HipProgram {
            slots: Slots::new(stream, part.input_bytes, mailed)?,
            parts: [Event::new(stream)?, Event::new(stream)?],
            stream: Arc::clone(stream),
            transfer: Arc::clone(&setup.transfer),
            replays,
            launches: ready,
            splits: plan.parts(request.device, &indices, PART_FLOPS),
            last: plan.splits.iter().rposition(|s| s.device == request.device).unwrap_or(0),
            places,
            inputs,
            fault,
            own: [arena, scratch],
            poison: setup.poison,
            faults: FaultNames::of(plan),
            is_input: part.places.iter().map(|p| matches!(p, Some(Place::Input(_)))).collect(),
            clock,
        })
    }

    fn place(&self, storage: StorageId) -> Result<&Region, DeviceError> {
        self.places.get(storage.index()).and_then(Option::as_ref).ok_or(DeviceError::NoBuffer { storage })
    }

    /// What comes before the first launch of a submission.
    fn start(&mut self, ticket: Ticket) -> Result<(), DeviceError> {
        if self.slots.get(ticket)?.send_inputs(&self.stream, &self.inputs)? {
            self.stream.fill(&self.fault.memory, 0, FAULT, 0)?;
            for region in self.own.iter().filter(|_| self.poison) {
                self.stream.fill(&region.memory, region.offset, region.bytes, 0xff)?;
            }
        }
        Ok(())
    }

    /// Submits a split as a graph and tells so; or leaves it to be launched. Long ones are launched, so that they can be cancelled.
    fn replay(&mut self, split: usize) -> Result<bool, DeviceError> {
        let (Some(replay), [part]) = (self.replays.get_mut(split), self.splits[split].as_slice()) else {
            return Ok(false);
        };
        replay.submit(&self.stream, &self.transfer, &mut self.launches[part.clone()])
    }

    fn launch(&mut self, part: Range<usize>) -> Result<(), DeviceError> {
        let _span = tracing::trace_span!("encode", launches = part.len()).entered();
        for at in part {
            let ready = &mut self.launches[at];
            if let Some(clock) = &self.clock {
                clock.before(at)?;
            }
            ready.launch(&self.stream)?;
            if let Some(clock) = &self.clock {
                clock.after(at)?;
            }
        }
        Ok(())
    }
}

impl Program for HipProgram {
    fn begin(&mut self, inputs: &[(StorageId, &[u8])]) -> Result<Ticket, DeviceError> {
        let mut parts = Vec::with_capacity(inputs.len());
        for (storage, bytes) in inputs {
            // An input that no dispatch here reads has no place.
            if self.is_input.get(storage.index()).copied().unwrap_or(false) {
                parts.push((self.place(*storage)?.offset, *bytes));
            }
        }
        self.slots.begin(&parts)
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        split: usize,
        cancel: Option<&AtomicBool>,
    ) -> Result<(), DeviceError> {
        let count = self.splits.get(split).map_or(0, Vec::len);
        if count == 0 {
            return Ok(());
        }
        self.stream.device().enter()?;
        self.start(ticket)?;
        for at in 0..count {
            if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                return Err(DeviceError::Cancelled);
            }
            if !self.replay(split)? {
                self.launch(self.splits[split][at].clone())?;
            }
            if count > 1 {
                // One part runs while the next is submitted; a cancelled run has at most that much left to do.
                self.parts[at % 2].record()?;
                self.parts[(at + 1) % 2].wait()?;
            }
        }
        if split == self.last {
            self.slots.send_mail(ticket, &self.stream, &self.fault)?;
        }
        self.clock.as_ref().map_or(Ok(()), |clock| clock.collect(&self.stream, ticket))
    }

    fn poll(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        match self.slots.get(ticket)?.outcome()? {
            None => Ok(false),
            Some(words) => self.faults.check(words).map(|()| true),
        }
    }

    fn read(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        let region = self.place(storage)?.clone();
        if let Some(words) = self.slots.get(ticket)?.wait()? {
            self.faults.check(words)?;
            if self.slots.read_mail(ticket, storage, offset, into) {
                return Ok(());
            }
        }
        self.transfer.read(&region, offset, into)
    }

    fn write(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        range: Range<u64>,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        let region = self.place(storage)?.clone();
        // Inputs of this submission that are still to be copied would overwrite what is written now.
        self.stream.device().enter()?;
        self.start(ticket)?;
        self.transfer.write(&region, range.start, bytes)
    }
}
