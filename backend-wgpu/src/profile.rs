//! Times of launches on the device, by timestamps. A profiled program gives each launch a pass of its own, so it is
//! slower as a whole than one that is not; what it computes is the same.

use crate::gpu::Gpu;
use std::time::Duration;
use weft_core::backend::DeviceError;
use weft_core::profile::{Label, Profile};
use wgpu::BufferUsages;

/// Most queries of one set.
const MOST: usize = 4096;

/// Timestamps before and after each launch of a program.
pub(crate) struct Clock {
    sets: Vec<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    staging: wgpu::Buffer,
    labels: Vec<Label>,
}

impl Clock {
    pub(crate) fn new(gpu: &Gpu, labels: Vec<Label>) -> Result<Self, DeviceError> {
        let bytes = (labels.len().max(1) as u64 * 16).next_multiple_of(256);
        let sets = labels
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
            labels,
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

    /// Reads the times of a range of launches after they were submitted, and adds them up.
    pub(crate) fn collect(
        &self,
        gpu: &Gpu,
        launches: std::ops::Range<usize>,
        profile: &Profile,
    ) -> Result<(), DeviceError> {
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for (at, set) in self.sets.iter().enumerate() {
            let count = self.labels.len().saturating_sub(at * MOST / 2).min(MOST / 2) as u32 * 2;
            encoder.resolve_query_set(set, 0..count, &self.resolved, (at * MOST * 8) as u64);
        }
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, self.staging.size());
        gpu.submit(encoder.finish(), 0);
        self.staging.map_async(wgpu::MapMode::Read, .., |_| {});
        gpu.wait()?;
        let period = f64::from(gpu.queue.get_timestamp_period());
        let lost = |e: wgpu::MapRangeError| DeviceError::Lost { reason: e.to_string() };
        let view = self.staging.get_mapped_range(..).map_err(lost)?;
        let stamps: Vec<u64> = view.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        drop(view);
        self.staging.unmap();
        for launch in launches {
            let ticks = stamps[2 * launch + 1].saturating_sub(stamps[2 * launch]);
            profile.add(&self.labels[launch], Duration::from_nanos((ticks as f64 * period) as u64));
        }
        Ok(())
    }
}
