//! Copies between host and device, through pinned memory of bounded size.

use crate::device::Counts;
use crate::memory::{Memory, Pinned, Region};
use crate::stream::{Event, Stream};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::DeviceError;
use weft_core::quant::planes::Rows;

/// Bytes of each of the two staging blocks.
const STAGED: u64 = 16 << 20;

/// Copies of one device, one at a time.
pub(crate) struct Transfer {
    stream: Arc<Stream>,
    /// Two blocks, so that one is filled while the other is copied. Made at the first copy.
    staging: Mutex<Option<[(Pinned, Event); 2]>>,
}

impl Transfer {
    pub(crate) fn new(stream: &Arc<Stream>) -> Self {
        Transfer { stream: Arc::clone(stream), staging: Mutex::new(None) }
    }

    /// A weight's bytes in memory of its own, repacked where `rows` says how.
    pub(crate) fn import(&self, what: &str, bytes: &[u8], rows: Option<Rows>) -> Result<Region, DeviceError> {
        let size = rows.map_or(bytes.len() as u64, |rows| rows.bytes());
        let memory = Memory::new(self.stream.device(), what, size)?;
        match rows {
            None => self.upload(&memory, 0, size, STAGED as usize, |at, into| {
                into.copy_from_slice(&bytes[at..at + into.len()]);
            })?,
            Some(rows) => {
                let (raw, pitch) = (rows.raw_pitch() as usize, rows.pitch() as usize);
                // Whole rows a piece, and whole rows a thread.
                let piece = (STAGED as usize / pitch).max(1) * pitch;
                self.upload(&memory, 0, size, piece, |at, into| {
                    let (first, count) = (at / pitch, into.len() / pitch);
                    let chunk = count.div_ceil(rayon::current_num_threads()).max(1);
                    into.par_chunks_mut(chunk * pitch)
                        .zip(bytes[first * raw..(first + count) * raw].par_chunks(chunk * raw))
                        .for_each(|(into, raw)| rows.pack(raw, into));
                })?;
            }
        }
        Ok(Region { rows, ..Region::whole(memory) })
    }

    /// Writes bytes, in the order of the stream; they may be reused when the call returns.
    pub(crate) fn write(&self, region: &Region, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        region.check(offset, bytes.len() as u64)?;
        let (memory, at) = (&region.memory, region.offset + offset);
        self.upload(memory, at, bytes.len() as u64, STAGED as usize, |at, into| {
            into.copy_from_slice(&bytes[at..at + into.len()]);
        })
    }

    /// Reads bytes, after everything submitted before.
    pub(crate) fn read(&self, region: &Region, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        region.check(offset, into.len() as u64)?;
        Counts::add(&self.stream.device().counts.reads);
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let [(pinned, event), _] = self.blocks(&mut staging, STAGED)?;
        self.stream.device().enter()?;
        event.wait()?;
        let piece = pinned.bytes().len().min(STAGED as usize);
        for (number, part) in into.chunks_mut(piece).enumerate() {
            let at = region.offset + offset + (number * piece) as u64;
            self.stream.download(&region.memory, at, pinned, 0, part.len() as u64)?;
            event.record()?;
            event.wait()?;
            part.copy_from_slice(&pinned.bytes()[..part.len()]);
        }
        Ok(())
    }

    /// The staging blocks, each of at least so many bytes.
    fn blocks<'a>(
        &self,
        staging: &'a mut Option<[(Pinned, Event); 2]>,
        bytes: u64,
    ) -> Result<&'a mut [(Pinned, Event); 2], DeviceError> {
        let fits = staging.as_ref().is_some_and(|[(pinned, _), _]| pinned.bytes().len() as u64 >= bytes);
        if !fits {
            let block = || -> Result<_, DeviceError> {
                Ok((Pinned::new(&self.stream, "staging memory", bytes)?, Event::new(&self.stream)?))
            };
            *staging = Some([block()?, block()?]);
        }
        staging.as_mut().ok_or_else(|| self.stream.device().lose("staging memory is gone"))
    }

    /// Fills memory piece by piece; `fill` gets the first byte and the piece.
    fn upload(
        &self,
        memory: &Memory,
        offset: u64,
        bytes: u64,
        piece: usize,
        fill: impl Fn(usize, &mut [u8]),
    ) -> Result<(), DeviceError> {
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = self.blocks(&mut staging, (piece as u64).max(STAGED))?;
        self.stream.device().enter()?;
        let mut at = 0;
        for turn in (0..2).cycle() {
            if at >= bytes {
                break;
            }
            let (pinned, event) = &mut blocks[turn];
            event.wait()?;
            let size = (bytes - at).min(piece as u64);
            fill(at as usize, &mut pinned.bytes_mut()[..size as usize]);
            self.stream.upload(pinned, 0, memory, offset + at, size)?;
            event.record()?;
            at += size;
        }
        Ok(())
    }
}
