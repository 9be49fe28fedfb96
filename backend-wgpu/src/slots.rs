//! What a submission owns: memory for its inputs, and memory for what comes back. Three may be in flight.

use crate::gpu::Gpu;
use crate::memory::Region;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::{DeviceError, Ticket};
use weft_core::graph::StorageId;
use wgpu::BufferUsages;

/// Submissions that may be in flight.
const COUNT: usize = 3;

/// States of a mapped buffer.
const MAPPED: u8 = 0;
const IN_USE: u8 = 1;
const FAILED: u8 = 2;

/// One submission's memory.
pub(crate) struct Slot {
    upload: wgpu::Buffer,
    /// Whether the host may write `upload`.
    upload_state: Arc<AtomicU8>,
    /// Whether inputs wait in `upload` to be copied.
    waiting: AtomicU8,
    mail: wgpu::Buffer,
    mail_state: Arc<AtomicU8>,
    /// Whether the last part was submitted.
    final_part: AtomicU8,
    /// What came back, once it was read.
    content: Mutex<Option<Vec<u8>>>,
    /// Storages in `mail`, with their first byte there. The fault words come first.
    letters: Vec<(StorageId, u64, Region)>,
    ticket: u64,
}

/// All slots of a program, used in turn.
pub(crate) struct Slots {
    slots: Vec<Slot>,
    next: u64,
}

/// Bytes of the fault words, rounded up.
const FAULT: u64 = 16;

impl Slots {
    pub(crate) fn new(
        gpu: &Gpu,
        input_bytes: u64,
        mailed: Vec<(StorageId, Region)>,
    ) -> Result<Self, DeviceError> {
        let mut at = FAULT;
        let mut letters = Vec::with_capacity(mailed.len());
        for (storage, region) in mailed {
            let size = region.bytes.next_multiple_of(4);
            letters.push((storage, at, region));
            at += size;
        }
        let slots = (0..COUNT)
            .map(|_| {
                Ok(Slot {
                    upload: gpu.buffer(
                        "upload",
                        input_bytes.max(4),
                        BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
                        true,
                    )?,
                    upload_state: Arc::new(AtomicU8::new(MAPPED)),
                    waiting: AtomicU8::new(0),
                    mail: gpu.buffer(
                        "results",
                        at,
                        BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                        false,
                    )?,
                    mail_state: Arc::new(AtomicU8::new(IN_USE)),
                    final_part: AtomicU8::new(0),
                    content: Mutex::new(None),
                    letters: letters.clone(),
                    ticket: 0,
                })
            })
            .collect::<Result<_, DeviceError>>()?;
        Ok(Slots { slots, next: 0 })
    }

    /// Takes the next slot, waits until its last submission has ended, and writes the inputs.
    pub(crate) fn begin(&mut self, gpu: &Gpu, inputs: &[(u64, &[u8])]) -> Result<Ticket, DeviceError> {
        self.next += 1;
        let at = (self.next % COUNT as u64) as usize;
        let slot = &mut self.slots[at];
        slot.ticket = self.next;
        if slot.final_part.load(Ordering::Acquire) == 1 {
            while slot.mail()?.is_none() {
                gpu.wait()?;
            }
        }
        slot.final_part.store(0, Ordering::Release);
        *slot.content.lock().unwrap_or_else(PoisonError::into_inner) = None;
        while slot.upload_state.load(Ordering::Acquire) != MAPPED {
            if slot.upload_state.load(Ordering::Acquire) == FAILED {
                gpu.check()?;
                return Err(DeviceError::Lost { reason: "upload memory could not be mapped".to_owned() });
            }
            gpu.wait()?;
        }
        let lost = |e: wgpu::MapRangeError| DeviceError::Lost { reason: e.to_string() };
        for (offset, bytes) in inputs.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            // Mapped ranges begin and end at whole words.
            let end = (offset + bytes.len() as u64).next_multiple_of(8);
            let mut view =
                slot.upload.get_mapped_range_mut(*offset..end.min(slot.upload.size())).map_err(lost)?;
            view.slice(..bytes.len()).copy_from_slice(bytes);
        }
        slot.waiting.store(1, Ordering::Release);
        Ok(Ticket(self.next))
    }

    /// The slot that a ticket has, had, or will have.
    pub(crate) fn of(&self, ticket: Ticket) -> &Slot {
        &self.slots[(ticket.0 % COUNT as u64) as usize]
    }

    /// The slot of a ticket.
    pub(crate) fn get(&self, ticket: Ticket) -> Result<&Slot, DeviceError> {
        let slot = self.of(ticket);
        if slot.ticket == ticket.0 {
            return Ok(slot);
        }
        Err(DeviceError::Lost { reason: format!("submission {} is over; {COUNT} are kept", ticket.0) })
    }
}

impl Slot {
    /// Whether inputs wait to be copied; they do not any more.
    pub(crate) fn take_upload(&self) -> bool {
        if self.waiting.swap(0, Ordering::AcqRel) == 0 {
            return false;
        }
        // From here on the device owns the memory: a host write before the copy has run would be an error of wgpu.
        self.upload_state.store(IN_USE, Ordering::Release);
        self.upload.unmap();
        true
    }

    pub(crate) fn copy_inputs(&self, encoder: &mut wgpu::CommandEncoder, inputs: &wgpu::Buffer) {
        let bytes = self.upload.size().min(inputs.size());
        encoder.copy_buffer_to_buffer(&self.upload, 0, inputs, 0, bytes);
    }

    /// Copies fault words and outputs to memory that the host can read.
    pub(crate) fn copy_mail(&self, encoder: &mut wgpu::CommandEncoder, fault: &wgpu::Buffer) {
        encoder.copy_buffer_to_buffer(fault, 0, &self.mail, 0, FAULT);
        for (_, at, region) in &self.letters {
            let bytes = region.bytes.next_multiple_of(4);
            encoder.copy_buffer_to_buffer(&region.buffer, region.offset, &self.mail, *at, bytes);
        }
    }

    /// Asks for the memory back once the device has done with it.
    pub(crate) fn submitted(&self, ends: bool) {
        if self.upload_state.load(Ordering::Acquire) == IN_USE {
            ask(&self.upload, wgpu::MapMode::Write, &self.upload_state);
        }
        if ends {
            self.mail_state.store(IN_USE, Ordering::Release);
            self.final_part.store(1, Ordering::Release);
            ask(&self.mail, wgpu::MapMode::Read, &self.mail_state);
        }
    }

    /// Whether the last part was submitted.
    pub(crate) fn is_final(&self) -> bool {
        self.final_part.load(Ordering::Acquire) == 1
    }

    /// The fault words, if everything has finished.
    pub(crate) fn mail(&self) -> Result<Option<[u32; 4]>, DeviceError> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if content.is_none() && self.is_final() {
            match self.mail_state.load(Ordering::Acquire) {
                MAPPED => {
                    let lost = |e: wgpu::MapRangeError| DeviceError::Lost { reason: e.to_string() };
                    *content = Some(self.mail.get_mapped_range(..).map_err(lost)?.to_vec());
                    self.mail.unmap();
                    self.mail_state.store(IN_USE, Ordering::Release);
                }
                FAILED => {
                    return Err(DeviceError::Lost { reason: "results could not be mapped".to_owned() });
                }
                _ => {}
            }
        }
        let words = |c: &Vec<u8>| bytemuck::pod_read_unaligned::<[u32; 4]>(&c[..FAULT as usize]);
        Ok(content.as_ref().map(words))
    }

    /// Reads part of a storage that came back. False if it did not come back.
    pub(crate) fn read_mail(&self, storage: StorageId, offset: u64, into: &mut [u8]) -> bool {
        let content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let letter = self.letters.iter().find(|(s, ..)| *s == storage);
        let (Some(content), Some((_, at, region))) = (content.as_ref(), letter) else { return false };
        let end = offset + into.len() as u64;
        if end > region.bytes {
            return false;
        }
        into.copy_from_slice(&content[(at + offset) as usize..(at + end) as usize]);
        true
    }
}

fn ask(buffer: &wgpu::Buffer, mode: wgpu::MapMode, state: &Arc<AtomicU8>) {
    let state = Arc::clone(state);
    buffer.map_async(mode, .., move |outcome| {
        state.store(if outcome.is_ok() { MAPPED } else { FAILED }, Ordering::Release);
    });
}
