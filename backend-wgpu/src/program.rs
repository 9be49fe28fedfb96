//! A compiled plan: launches with pipelines and bindings made, the arena, and what each submission owns.

use crate::gpu::Gpu;
use crate::kernels::Implementation;
use crate::launch::{self, Bound, Prepared};
use crate::memory::{self, ALIGNMENT, Memory, Region};
use crate::pipelines::{Compiled, Pipelines};
use crate::profile::Clock;
use crate::slots::{Slot, Slots};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_core::backend::{CompileRequest, DeviceError, Program, Ticket};
use weft_core::fault::FaultNames;
use weft_core::graph::StorageId;
use weft_core::plan::Place;
use weft_core::profile::{Profile, Timed};
use weft_core::quant::codebooks;
use wgpu::BufferUsages;

/// What a program needs from its backend.
pub(crate) struct Setup {
    pub gpu: Arc<Gpu>,
    pub memory: Memory,
    pub pipelines: Pipelines,
    pub implementations: Vec<Implementation>,
    pub poison: bool,
    /// Where times go, if launches are timed.
    pub profile: Option<Arc<Profile>>,
}

/// One launch, ready to be encoded.
struct Ready {
    compiled: Arc<Compiled>,
    bind_group: wgpu::BindGroup,
    groups: [u32; 3],
}

/// Work of about 50 ms on a middling GPU: a longer split is cut, so that it can be cancelled and no watchdog bites.
const PART_FLOPS: u64 = 400_000_000_000;

/// Outputs up to this many bytes come back with the submission that makes them; larger ones when they are asked for.
const MAILED: u64 = 64 << 10;

pub(crate) struct WgpuProgram {
    gpu: Arc<Gpu>,
    faults: FaultNames,
    /// By storage, whether it is an input.
    is_input: Vec<bool>,
    launches: Vec<Ready>,
    /// Per split of the plan its parts as ranges of launches; empty for splits of other devices.
    splits: Vec<Vec<Range<usize>>>,
    /// The last split on this device.
    last: usize,
    places: Vec<Option<Region>>,
    inputs: Region,
    fault: Region,
    /// Regions to fill with NaN before each submission.
    poisoned: Vec<Region>,
    poison: Option<wgpu::Buffer>,
    slots: Slots,
    clock: Option<Clock>,
    ahead: Option<Ahead>,
}

/// Commands that wait for their submission.
struct Ahead {
    ticket: Ticket,
    split: usize,
    commands: wgpu::CommandBuffer,
}

impl WgpuProgram {
    pub(crate) fn compile(setup: &Setup, request: &CompileRequest<'_>) -> Result<Self, DeviceError> {
        let (plan, gpu) = (request.plan, &setup.gpu);
        let part = &plan.devices[request.device];
        let own = |what: &str, bytes: u64| -> Result<Region, DeviceError> {
            let bytes = bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
            Ok(Region { buffer: gpu.buffer(what, bytes, usage, false)?, offset: 0, bytes, rows: None })
        };
        let arena = own("activations", part.arena_bytes)?;
        let inputs = own("inputs", part.input_bytes)?;
        let fault = own("faults", 16)?;
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
                    Some(memory::region(buffer)?.clone())
                }
            });
        }
        let (prepared, scratch_bytes) = prepare(setup, request, &places)?;
        let scratch = own("scratch", scratch_bytes)?;
        let texts: Vec<_> = prepared.iter().map(|(_, p)| &p.assembled).collect();
        let compiled = setup.pipelines.compile(gpu, &texts);
        let blocks = blocks(gpu, &prepared)?;
        let mut launches = Vec::with_capacity(prepared.len());
        for (at, ((index, prepared), compiled)) in prepared.iter().zip(compiled).enumerate() {
            let kernel = plan.dispatches[*index].kernel;
            let failed = |reason: String| DeviceError::Dispatch { index: *index, kernel, reason };
            let compiled = compiled.map_err(failed)?;
            let bind_group = bind(gpu, prepared, &compiled, &blocks, at, &scratch, &fault).map_err(failed)?;
            launches.push(Ready { compiled, bind_group, groups: prepared.groups });
        }
        let indices: Vec<usize> = prepared.iter().map(|(index, _)| *index).collect();
        let splits = plan.parts(request.device, &indices, PART_FLOPS);
        let last = plan.splits.iter().rposition(|s| s.device == request.device).unwrap_or(0);
        let poison = if setup.poison { Some(nan(gpu, arena.bytes.max(scratch.bytes))?) } else { None };
        let mailed = plan.small_outputs(request.device, &places, |region| region.bytes, MAILED);
        let clock = match &setup.profile {
            None => None,
            Some(profile) => {
                Some(Clock::new(gpu, Timed::of(plan, request.device, &indices), Arc::clone(profile))?)
            }
        };
        Ok(WgpuProgram {
            slots: Slots::new(gpu, inputs.bytes, mailed)?,
            gpu: Arc::clone(gpu),
            faults: FaultNames::of(plan),
            is_input: part.places.iter().map(|p| matches!(p, Some(Place::Input(_)))).collect(),
            launches,
            splits,
            last,
            places,
            inputs,
            fault,
            poisoned: vec![arena, scratch],
            poison,
            clock,
            ahead: None,
        })
    }

    fn place(&self, storage: StorageId) -> Result<&Region, DeviceError> {
        self.places.get(storage.index()).and_then(Option::as_ref).ok_or(DeviceError::NoBuffer { storage })
    }

    fn encode(&self, encoder: &mut wgpu::CommandEncoder, part: &Range<usize>) {
        if let Some(clock) = &self.clock {
            for at in part.clone() {
                let timestamp_writes = clock.writes(at);
                let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
                self.launch(&mut encoder.begin_compute_pass(&descriptor), at..at + 1);
            }
            return;
        }
        self.launch(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()), part.clone());
    }

    fn launch(&self, pass: &mut wgpu::ComputePass<'_>, launches: Range<usize>) {
        let mut current: Option<&Arc<Compiled>> = None;
        for ready in &self.launches[launches] {
            if current.is_none_or(|c| !Arc::ptr_eq(c, &ready.compiled)) {
                pass.set_pipeline(&ready.compiled.pipeline);
                current = Some(&ready.compiled);
            }
            pass.set_bind_group(0, &ready.bind_group, &[]);
            let [x, y, z] = ready.groups;
            pass.dispatch_workgroups(x, y, z);
        }
    }

    /// The commands of a part: the first of a submission takes its inputs, the last sends back its results.
    fn record(&self, slot: &Slot, part: &Range<usize>, starts: bool, ends: bool) -> wgpu::CommandBuffer {
        let _span = tracing::trace_span!("encode", launches = part.len()).entered();
        let mut encoder = self.encoder();
        if starts {
            slot.copy_inputs(&mut encoder, &self.inputs.buffer);
            encoder.clear_buffer(&self.fault.buffer, 0, Some(16));
            for (poison, region) in self.poison.iter().flat_map(|p| self.poisoned.iter().map(move |r| (p, r)))
            {
                encoder.copy_buffer_to_buffer(poison, 0, &region.buffer, 0, region.bytes);
            }
        }
        self.encode(&mut encoder, part);
        if ends {
            slot.copy_mail(&mut encoder, &self.fault.buffer);
        }
        encoder.finish()
    }

    /// The next submission's commands, while the device is busy with this one's: they are the same, since all that
    /// changes from run to run lies in buffers. Only for programs of a single part.
    fn record_ahead(&self, ticket: Ticket, split: usize) -> Option<Ahead> {
        let mut parts = self.splits.iter().flatten();
        let (Some(part), None, None) = (parts.next(), parts.next(), &self.clock) else { return None };
        let ticket = Ticket(ticket.0 + 1);
        let commands = self.record(self.slots.of(ticket), part, true, split == self.last);
        Some(Ahead { ticket, split, commands })
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }
}

/// Prepares every dispatch of the device: index and launch, and the largest scratch memory wanted.
fn prepare(
    setup: &Setup,
    request: &CompileRequest<'_>,
    places: &[Option<Region>],
) -> Result<(Vec<(usize, Prepared)>, u64), DeviceError> {
    let (mut all, mut most) = (Vec::new(), 0);
    for (index, dispatch) in request.plan.dispatches.iter().enumerate() {
        if dispatch.device != request.device {
            continue;
        }
        let kernel = dispatch.kernel;
        let failed = |reason: String| DeviceError::Dispatch { index, kernel, reason };
        let known =
            |i: &&Implementation| i.offer.contract.kernel == kernel && i.offer.variant == dispatch.variant;
        let implementation = setup.implementations.iter().find(known);
        let implementation = implementation.ok_or_else(|| failed("no such variant".to_owned()))?;
        let regions = dispatch.places(places)?;
        let (launches, scratch) =
            launch::prepare(dispatch, index, implementation, &regions, &setup.gpu.caps).map_err(failed)?;
        most = most.max(scratch);
        all.extend(launches.into_iter().map(|launch| (index, launch)));
    }
    Ok((all, most))
}

/// All parameter blocks in one buffer, each at a multiple of [`ALIGNMENT`], with where each begins and how long it is.
struct Blocks {
    buffer: wgpu::Buffer,
    ranges: Vec<(u64, u64)>,
    /// Where the codebooks lie behind them; empty if no launch reads them.
    codebooks: Range<u64>,
}

fn blocks(gpu: &Gpu, prepared: &[(usize, Prepared)]) -> Result<Blocks, DeviceError> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut ranges = Vec::with_capacity(prepared.len());
    for (_, launch) in prepared {
        let start = bytes.len() as u64;
        bytes.extend_from_slice(bytemuck::cast_slice(&launch.block));
        // The size of a uniform block is a multiple of 16.
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        ranges.push((start, bytes.len() as u64 - start));
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
    }
    let coded = |(_, launch): &(usize, Prepared)| launch.bound.iter().any(|b| matches!(b, Bound::Codebooks));
    let start = bytes.len() as u64;
    if prepared.iter().any(coded) {
        let words = codebooks::ALL.iter().flat_map(|(_, words)| words.iter());
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
    }
    let codebooks = start..bytes.len() as u64;
    bytes.resize(bytes.len().max(ALIGNMENT as usize), 0);
    let usage = BufferUsages::UNIFORM | BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let buffer = gpu.buffer("parameters", bytes.len() as u64, usage, false)?;
    gpu.queue.write_buffer(&buffer, 0, &bytes);
    Ok(Blocks { buffer, ranges, codebooks })
}

fn bind(
    gpu: &Gpu,
    prepared: &Prepared,
    compiled: &Compiled,
    blocks: &Blocks,
    at: usize,
    scratch: &Region,
    fault: &Region,
) -> Result<wgpu::BindGroup, String> {
    fn part(buffer: &wgpu::Buffer, range: Range<u64>) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: range.start,
            size: wgpu::BufferSize::new(range.end - range.start),
        })
    }
    let (start, size) = blocks.ranges[at];
    let mut entries =
        vec![wgpu::BindGroupEntry { binding: 0, resource: part(&blocks.buffer, start..start + size) }];
    for (index, bound) in prepared.bound.iter().enumerate() {
        let resource = match bound {
            Bound::Bytes(buffer, range) => part(buffer, range.clone()),
            Bound::Codebooks => part(&blocks.buffer, blocks.codebooks.clone()),
            Bound::Scratch => part(&scratch.buffer, 0..scratch.bytes),
            Bound::Fault => part(&fault.buffer, 0..fault.bytes),
        };
        entries.push(wgpu::BindGroupEntry { binding: index as u32 + 1, resource });
    }
    let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &compiled.layout, entries: &entries };
    gpu.captured(|| gpu.device.create_bind_group(&descriptor)).map_err(|e| e.to_string())
}

/// A buffer of NaN.
fn nan(gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer, DeviceError> {
    let buffer = gpu.buffer("poison", bytes, BufferUsages::COPY_SRC, true)?;
    if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
        view.copy_from_slice(&vec![0xff; bytes as usize]);
    }
    buffer.unmap();
    Ok(buffer)
}

impl Program for WgpuProgram {
    fn begin(&mut self, inputs: &[(StorageId, &[u8])]) -> Result<Ticket, DeviceError> {
        self.gpu.check()?;
        let mut parts = Vec::with_capacity(inputs.len());
        for (storage, bytes) in inputs {
            // An input that no dispatch here reads has no place.
            if self.is_input.get(storage.index()).copied().unwrap_or(false) {
                parts.push((self.place(*storage)?.offset, *bytes));
            }
        }
        self.slots.begin(&self.gpu, &parts)
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        split: usize,
        cancel: Option<&AtomicBool>,
    ) -> Result<(), DeviceError> {
        let Some(parts) = self.splits.get(split).filter(|parts| !parts.is_empty()) else { return Ok(()) };
        let last = parts.len() - 1;
        for (at, part) in parts.iter().enumerate() {
            if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                return Err(DeviceError::Cancelled);
            }
            let slot = self.slots.get(ticket)?;
            let starts = slot.take_upload();
            let ends = split == self.last && at == last;
            let ahead =
                self.ahead.take().filter(|ahead| starts && (ahead.ticket, ahead.split) == (ticket, split));
            let commands = match ahead {
                Some(ahead) => ahead.commands,
                None => self.record(slot, part, starts, ends),
            };
            self.gpu.submit(commands, part.len());
            slot.submitted(ends);
            if let Some(clock) = &self.clock {
                clock.collect(&self.gpu, part.clone(), ticket)?;
            }
            if at < last {
                // One part runs while the next is encoded; a cancelled run has at most that much left to do.
                self.gpu.look()?;
            }
        }
        self.ahead = self.record_ahead(ticket, split);
        self.gpu.check()
    }

    fn poll(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        self.gpu.look()?;
        let slot: &Slot = self.slots.get(ticket)?;
        match slot.mail()? {
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
        let slot = self.slots.get(ticket)?;
        if slot.is_final() {
            while slot.mail()?.is_none() {
                self.gpu.wait()?;
            }
            let words = slot.mail()?.unwrap_or_default();
            self.faults.check(words)?;
            if slot.read_mail(storage, offset, into) {
                return Ok(());
            }
        }
        memory::read(&self.gpu, &region, offset, into)
    }

    fn write(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        range: Range<u64>,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        let region = self.place(storage)?.clone();
        let input = self.is_input.get(storage.index()).copied().unwrap_or(false);
        let slot = self.slots.get(ticket)?;
        // Inputs of this submission that are still to be copied would overwrite what is written now.
        if input && slot.take_upload() {
            let mut encoder = self.encoder();
            slot.copy_inputs(&mut encoder, &self.inputs.buffer);
            encoder.clear_buffer(&self.fault.buffer, 0, Some(16));
            self.gpu.submit(encoder.finish(), 0);
            slot.submitted(false);
        }
        memory::write(&self.gpu, &region, range.start, bytes)
    }
}
