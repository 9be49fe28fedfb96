//! What a submission owns: pinned memory for its inputs, and for what comes back. Three may be in flight.

use crate::memory::{Pinned, Region};
use crate::stream::{Event, Stream};
use std::sync::Arc;
use weft_core::backend::{DeviceError, Ticket};
use weft_core::graph::StorageId;

/// Submissions that may be in flight.
const COUNT: usize = 3;

/// Bytes of the fault words.
pub(crate) const FAULT: u64 = 16;

/// One submission's memory.
pub(crate) struct Slot {
    inputs: Pinned,
    /// Whether inputs wait to be copied.
    waiting: bool,
    /// Behind the copy of the inputs: the host may write them again.
    taken: Event,
    mail: Pinned,
    /// Behind the last copy to `mail`.
    ended: Event,
    /// Whether the last part was submitted.
    is_final: bool,
    ticket: u64,
}

/// All slots of a program, used in turn.
pub(crate) struct Slots {
    slots: Vec<Slot>,
    next: u64,
    /// Storages that come back, with their first byte in `mail`. The fault words come first.
    letters: Vec<(StorageId, u64, Region)>,
}

impl Slots {
    pub(crate) fn new(
        stream: &Arc<Stream>,
        input_bytes: u64,
        mailed: Vec<(StorageId, Region)>,
    ) -> Result<Self, DeviceError> {
        let mut at = FAULT;
        let mut letters = Vec::with_capacity(mailed.len());
        for (storage, region) in mailed {
            let size = region.bytes.next_multiple_of(8);
            letters.push((storage, at, region));
            at += size;
        }
        let slot = || -> Result<Slot, DeviceError> {
            Ok(Slot {
                inputs: Pinned::new(stream, "inputs", input_bytes)?,
                waiting: false,
                taken: Event::new(stream)?,
                mail: Pinned::new(stream, "results", at)?,
                ended: Event::new(stream)?,
                is_final: false,
                ticket: 0,
            })
        };
        let slots = (0..COUNT).map(|_| slot()).collect::<Result<_, _>>()?;
        Ok(Slots { slots, next: 0, letters })
    }

    /// Takes the next slot, waits until its last submission has ended, and writes the inputs.
    pub(crate) fn begin(&mut self, inputs: &[(u64, &[u8])]) -> Result<Ticket, DeviceError> {
        self.next += 1;
        let slot = &mut self.slots[(self.next % COUNT as u64) as usize];
        slot.taken.wait()?;
        slot.ended.wait()?;
        let room = slot.inputs.bytes_mut();
        for (offset, bytes) in inputs {
            let start = usize::try_from(*offset).unwrap_or(usize::MAX);
            let end = start.saturating_add(bytes.len());
            let outside = DeviceError::Outside { start: *offset, end: end as u64, bytes: room.len() as u64 };
            room.get_mut(start..end).ok_or(outside)?.copy_from_slice(bytes);
        }
        (slot.waiting, slot.is_final, slot.ticket) = (true, false, self.next);
        Ok(Ticket(self.next))
    }

    /// The slot of a ticket.
    pub(crate) fn get(&mut self, ticket: Ticket) -> Result<&mut Slot, DeviceError> {
        let slot = &mut self.slots[(ticket.0 % COUNT as u64) as usize];
        if slot.ticket == ticket.0 {
            return Ok(slot);
        }
        Err(DeviceError::Lost { reason: format!("submission {} is over; {COUNT} are kept", ticket.0) })
    }

    /// Sends fault words and small outputs back at the end of a submission.
    pub(crate) fn send_mail(
        &mut self,
        ticket: Ticket,
        stream: &Stream,
        fault: &Region,
    ) -> Result<(), DeviceError> {
        let slot = &mut self.slots[(ticket.0 % COUNT as u64) as usize];
        stream.download(&fault.memory, fault.offset, &slot.mail, 0, FAULT)?;
        for (_, at, region) in &self.letters {
            stream.download(&region.memory, region.offset, &slot.mail, *at, region.bytes)?;
        }
        slot.is_final = true;
        slot.ended.record()
    }

    /// Reads part of a storage that came back. False if it did not come back.
    pub(crate) fn read_mail(&self, ticket: Ticket, storage: StorageId, offset: u64, into: &mut [u8]) -> bool {
        let slot = &self.slots[(ticket.0 % COUNT as u64) as usize];
        let Some((_, at, region)) = self.letters.iter().find(|(s, ..)| *s == storage) else { return false };
        let end = offset.saturating_add(into.len() as u64);
        if !slot.is_final || end > region.bytes {
            return false;
        }
        into.copy_from_slice(&slot.mail.bytes()[(at + offset) as usize..(at + end) as usize]);
        true
    }
}

impl Slot {
    /// Copies the inputs to the device, once a submission. Tells whether it was done now.
    pub(crate) fn send_inputs(&mut self, stream: &Stream, inputs: &Region) -> Result<bool, DeviceError> {
        if !std::mem::take(&mut self.waiting) {
            return Ok(false);
        }
        stream.upload(&self.inputs, 0, &inputs.memory, inputs.offset, inputs.bytes)?;
        self.taken.record()?;
        Ok(true)
    }

    /// The fault words, if everything has ended.
    pub(crate) fn outcome(&self) -> Result<Option<[u32; 4]>, DeviceError> {
        if !self.is_final || !self.ended.passed()? {
            return Ok(None);
        }
        Ok(Some(self.words()))
    }

    /// Waits for the end of the last part and gives the fault words; `None` if it was not submitted yet.
    pub(crate) fn wait(&self) -> Result<Option<[u32; 4]>, DeviceError> {
        if !self.is_final {
            return Ok(None);
        }
        self.ended.wait()?;
        Ok(Some(self.words()))
    }

    fn words(&self) -> [u32; 4] {
        let words = self.mail.bytes()[..FAULT as usize].as_chunks::<4>().0;
        std::array::from_fn(|at| words.get(at).map_or(0, |word| u32::from_le_bytes(*word)))
    }
}
