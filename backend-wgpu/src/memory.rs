//! Device memory: small regions share buffers, so that a kernel needs few bindings; uploads go through bounded staging.

use crate::gpu::Gpu;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::{Buffer, DeviceError};
use weft_core::quant::planes::Rows;
use wgpu::BufferUsages;

/// Regions begin at multiples of this many bytes: every adapter's alignment of bindings.
pub(crate) const ALIGNMENT: u64 = 256;
/// Regions up to this size share a buffer.
const SMALL: u64 = 1 << 20;
/// Size of a shared buffer.
const SLAB: u64 = 8 << 20;
/// Most bytes that wait in staging memory during an upload.
const STAGED: u64 = 64 << 20;

/// Part of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub buffer: wgpu::Buffer,
    /// Where it begins.
    pub offset: u64,
    /// Bytes that belong to it, up to a multiple of [`ALIGNMENT`].
    pub bytes: u64,
    /// How a repacked weight lies in it.
    pub rows: Option<Rows>,
}

/// Makes regions.
#[derive(Default)]
pub(crate) struct Memory {
    /// Shared buffers in use, with the bytes handed out of each: of weights, and of what kernels write.
    slabs: Mutex<[Option<(wgpu::Buffer, u64)>; 2]>,
}

const USAGE: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

impl Memory {
    /// A zeroed region. `constant` ones never share a buffer with others.
    pub(crate) fn allocate(
        &self,
        gpu: &Gpu,
        what: &str,
        bytes: u64,
        constant: bool,
    ) -> Result<Region, DeviceError> {
        let size = bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        if size > SMALL {
            let buffer = gpu.buffer(what, size, USAGE, false)?;
            return Ok(Region { buffer, offset: 0, bytes: size, rows: None });
        }
        gpu.check()?;
        let mut slabs = self.slabs.lock().unwrap_or_else(PoisonError::into_inner);
        let slab = &mut slabs[usize::from(constant)];
        let room = SLAB.min(gpu.caps.binding);
        let (buffer, used) = match slab {
            Some((buffer, used)) if *used + size <= buffer.size() => (buffer, used),
            _ => {
                let buffer = gpu.buffer("small tensors", room.max(size), USAGE, false)?;
                // wgpu clears what was never written when it is first bound, and a binding spans regions of others: one
                // that another thread is writing at that moment would be cleared after it was written.
                let mut encoder =
                    gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                encoder.clear_buffer(&buffer, 0, None);
                gpu.submit(encoder.finish(), 0);
                let (buffer, used) = slab.insert((buffer, 0));
                (buffer, used)
            }
        };
        let region = Region { buffer: buffer.clone(), offset: *used, bytes: size, rows: None };
        *used += size;
        Ok(region)
    }

    /// A weight's bytes on the device, repacked where `rows` says how.
    pub(crate) fn import(
        &self,
        gpu: &Gpu,
        what: &str,
        bytes: &[u8],
        rows: Option<Rows>,
    ) -> Result<Region, DeviceError> {
        let size = rows.map_or(bytes.len() as u64, |rows| rows.bytes());
        let mut region = self.allocate(gpu, what, size, true)?;
        region.rows = rows;
        match rows {
            None => upload(gpu, &region, size, 1 << 24, |at, into| {
                let from = &bytes[at..(at + into.len()).min(bytes.len())];
                into[..from.len()].copy_from_slice(from);
            })?,
            Some(rows) => {
                let (raw, pitch) = (rows.raw_pitch() as usize, rows.pitch() as usize);
                // Whole rows a piece, and whole pieces a thread.
                let piece = ((1 << 24) / pitch).max(1) * pitch;
                upload(gpu, &region, size, piece, |at, into| {
                    let first = at / pitch;
                    let chunk = (into.len() / pitch / rayon::current_num_threads()).max(1);
                    let count = into.len() / pitch;
                    into[..count * pitch]
                        .par_chunks_mut(chunk * pitch)
                        .zip(bytes[first * raw..(first + count) * raw].par_chunks(chunk * raw))
                        .for_each(|(into, raw)| rows.pack(raw, into));
                })?;
            }
        }
        Ok(region)
    }
}

/// Fills a region piece by piece through memory that the device maps; `fill` gets the first byte and the piece.
fn upload(
    gpu: &Gpu,
    region: &Region,
    bytes: u64,
    piece: usize,
    fill: impl Fn(usize, &mut [u8]),
) -> Result<(), DeviceError> {
    let mut waiting = 0;
    let mut at = 0;
    while at < bytes {
        let size = (bytes - at).min(piece as u64).next_multiple_of(4);
        let Some(nonzero) = wgpu::BufferSize::new(size) else { break };
        let mut scratch = vec![0; size as usize];
        fill(at as usize, &mut scratch);
        let view = gpu.queue.write_buffer_with(&region.buffer, region.offset + at, nonzero);
        let mut view = view.ok_or_else(|| DeviceError::OutOfMemory {
            what: "staging memory".to_owned(),
            asked: size,
            granted: None,
        })?;
        view.copy_from_slice(&scratch);
        drop(view);
        at += size;
        waiting += size;
        if waiting >= STAGED || at >= bytes {
            gpu.queue.submit([]);
            gpu.wait()?;
            waiting = 0;
        }
    }
    gpu.check()
}

/// The region of a buffer of this backend.
pub(crate) fn region(buffer: &Buffer) -> Result<&Region, DeviceError> {
    let foreign = || DeviceError::Lost { reason: "the buffer belongs to another backend".to_owned() };
    buffer.handle.downcast_ref::<Region>().ok_or_else(foreign)
}

/// A region as a buffer of the backend trait.
pub(crate) fn buffer(region: Region, bytes: u64) -> Buffer {
    Buffer { bytes, handle: Arc::new(region) }
}

/// Writes bytes. Parts of words at the ends are read first.
pub(crate) fn write(gpu: &Gpu, region: &Region, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
    let end = offset.saturating_add(bytes.len() as u64);
    if end > region.bytes {
        return Err(DeviceError::Outside { start: offset, end, bytes: region.bytes });
    }
    gpu.check()?;
    let (first, last) = (offset & !3, end.next_multiple_of(4));
    if first == offset && last == end {
        gpu.queue.write_buffer(&region.buffer, region.offset + offset, bytes);
    } else if !bytes.is_empty() {
        let mut whole = vec![0; (last - first) as usize];
        read(gpu, region, first, &mut whole)?;
        whole[(offset - first) as usize..][..bytes.len()].copy_from_slice(bytes);
        gpu.queue.write_buffer(&region.buffer, region.offset + first, &whole);
    }
    gpu.check()
}

/// Reads bytes, after everything submitted before.
pub(crate) fn read(gpu: &Gpu, region: &Region, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
    let end = offset.saturating_add(into.len() as u64);
    if end > region.bytes {
        return Err(DeviceError::Outside { start: offset, end, bytes: region.bytes });
    }
    if into.is_empty() {
        return gpu.check();
    }
    let (first, last) = (offset & !3, end.next_multiple_of(4));
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    let staging = gpu.buffer("read-back", last - first, usage, false)?;
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(&region.buffer, region.offset + first, &staging, 0, last - first);
    gpu.submit(encoder.finish(), 0);
    staging.map_async(wgpu::MapMode::Read, .., |_| {});
    gpu.wait()?;
    let view = staging.get_mapped_range(..).map_err(|e| DeviceError::Lost { reason: e.to_string() })?;
    into.copy_from_slice(&view[(offset - first) as usize..][..into.len()]);
    Ok(())
}
