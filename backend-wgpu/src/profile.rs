//! Times of launches on the device, by timestamps. A profiled program gives each launch a pass of its own, so it is
//! slower as a whole than one that is not; what it computes is the same.

use crate::gpu::Gpu;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use weft_core::backend::{DeviceError, Ticket};
use weft_core::profile::{Launch, Profile, Timed};
use wgpu::BufferUsages;

/// Most queries of one set.
const MOST: usize = 4096;

/// Timestamps before and after each launch of a program.
pub(crate) struct Clock {
    sets: Vec<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    staging: wgpu::Buffer,
    program: Arc<Timed>,
    profile: Arc<Profile>,
}

impl Clock {
    pub(crate) fn new(gpu: &Gpu, program: Arc<Timed>, profile: Arc<Profile>) -> Result<Self, DeviceError> {
        let launches = &program.labels;
        let bytes = (launches.len().max(1) as u64 * 16).next_multiple_of(256);
        let sets = launches
            .chunks(MOST / 2)
            .map(|chunk| {
                gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: None,
                    ty: wgpu::QueryType::Timestamp,
                    count: chunk.len() as u32 * 2,
                })
            })
            .collect();
        Ok(Clock {
            sets,
            resolved: gpu.buffer(
                "times",
                bytes,
                BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
                false,
            )?,
            staging: gpu.buffer("times", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST, false)?,
            program,
            profile,
        })
    }

    /// Where a launch's pass writes its times.
    pub(crate) fn writes(&self, launch: usize) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let (set, at) = (launch / (MOST / 2), (launch % (MOST / 2)) as u32 * 2);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: self.sets.get(set)?,
            beginning_of_pass_write_index: Some(at),
            end_of_pass_write_index: Some(at + 1),
        })
    }

    /// Waits for a range of launches that were submitted, and reads their times.
    pub(crate) fn collect(
        &self,
        gpu: &Gpu,
        launches: Range<usize>,
        ticket: Ticket,
    ) -> Result<(), DeviceError> {
        gpu.wait()?;
        let ended = self.profile.now();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for (at, set) in self.sets.iter().enumerate() {
            let count = self.program.labels.len().saturating_sub(at * MOST / 2).min(MOST / 2) as u32 * 2;
            encoder.resolve_query_set(set, 0..count, &self.resolved, (at * MOST * 8) as u64);
        }
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, self.staging.size());
        gpu.submit(encoder.finish(), 0);
        self.staging.map_async(wgpu::MapMode::Read, .., |_| {});
        gpu.wait()?;
        let lost = |e: wgpu::MapRangeError| DeviceError::Lost { reason: e.to_string() };
        let view = self.staging.get_mapped_range(..).map_err(lost)?;
        let stamps: Vec<u64> = view.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        drop(view);
        self.staging.unmap();
        let period = f64::from(gpu.queue.get_timestamp_period());
        let span =
            |from: u64, to: u64| Duration::from_nanos((to.saturating_sub(from) as f64 * period) as u64);
        // The device's clock has a beginning of its own.
        let last = launches.clone().map(|launch| stamps[2 * launch + 1]).max().unwrap_or(0);
        self.profile.launched(launches.map(|launch| Launch {
            program: Arc::clone(&self.program),
            launch,
            run: ticket.0,
            lane: 0,
            start: ended.saturating_sub(span(stamps[2 * launch], last)),
            time: span(stamps[2 * launch], stamps[2 * launch + 1]),
        }));
        Ok(())
    }
}
