//! Causal depthwise convolution with history, and the store of that history.

use super::Tuned;
use crate::job::{Args, Job, Worker};
use crate::simd::{Simd, recurrent};
use crate::view::View;
use std::ops::Range;
use weft_core::contract::{Port, Stride};
use weft_core::kernels::KernelError;
use weft_core::segment::Segment;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "ssm_conv",
        variant: "rows",
        exact: true,
        port: conv_port,
        symbols: &[],
        build: build_conv,
    },
    Tuned {
        stem: "conv_history",
        variant: "rows",
        exact: true,
        port: super::float_rows,
        symbols: &[],
        build: build_store,
    },
];

/// The segmented form: history and segments are bound.
fn conv_port(port: Port) -> Port {
    let port = super::float_rows(port);
    match port.name {
        "history" | "segments" => Port { optional: false, ..port },
        "weight" => port.strides([Stride::Packed, Stride::Packed, Stride::Any, Stride::Any]),
        _ => port,
    }
}

/// A convolution with its history.
#[derive(Clone, Copy)]
pub(crate) struct Convolution {
    pub simd: Simd,
    pub x: View,
    pub weight: View,
    pub history: View,
    pub dilation: usize,
}

impl Convolution {
    /// Weights of some channels, tap by tap.
    ///
    /// # Safety
    /// The weight is packed f32 and not written now.
    pub(crate) unsafe fn taps(&self, channels: &Range<usize>, into: &mut [f32]) {
        let taps = self.weight.shape()[0];
        let width = channels.len();
        for (c, channel) in channels.clone().enumerate() {
            for k in 0..taps {
                // SAFETY: by the caller's word.
                into[k * width + c] = unsafe { self.weight.f32([k, channel, 0, 0]) };
            }
        }
    }

    /// The history of some channels of a slot, step by step, without the newest that the segment passes over; zeros for a
    /// fresh segment and where the history does not reach.
    ///
    /// # Safety
    /// Nobody writes these channels of the slot now.
    pub(crate) unsafe fn past(&self, segment: &Segment, channels: &Range<usize>, into: &mut [f32]) {
        let reach = self.history.shape()[0];
        let width = channels.len();
        if segment.fresh {
            into[..reach * width].fill(0.0);
            return;
        }
        let over = reach.min(segment.plane as usize);
        into[..over * width].fill(0.0);
        for (c, channel) in channels.clone().enumerate() {
            for t in over..reach {
                // SAFETY: by the caller's word.
                into[t * width + c] =
                    unsafe { self.history.f32([t - over, channel, segment.slot as usize, 0]) };
            }
        }
    }

    /// The convolution of token `i` of a segment for some channels.
    ///
    /// # Safety
    /// Nobody writes `x` now; `taps` and `past` were filled for these channels.
    pub(crate) unsafe fn token(
        &self,
        segment: &Segment,
        i: usize,
        channels: &Range<usize>,
        (taps, past): (&[f32], &[f32]),
        out: &mut [f32],
    ) {
        let (count, reach) = (self.weight.shape()[0], self.history.shape()[0]);
        let width = channels.len();
        out.fill(0.0);
        for k in 0..count {
            let back = (count - 1 - k) * self.dilation;
            let factors = &taps[k * width..(k + 1) * width];
            if back <= i {
                // SAFETY: the row lies in the ubatch by the segment check.
                let row = unsafe { self.x.row([segment.row as usize + i - back, 0, 0]) };
                recurrent::add_product(self.simd, factors, &row[channels.clone()], out);
            } else {
                let at = (reach + i - back) * width;
                recurrent::add_product(self.simd, factors, &past[at..at + width], out);
            }
        }
    }

    /// Stores the last inputs of a segment for some channels.
    ///
    /// # Safety
    /// Only this worker touches these channels of the slot; `past` holds their old history.
    pub(crate) unsafe fn store(&self, segment: &Segment, channels: &Range<usize>, past: &[f32]) {
        let reach = self.history.shape()[0];
        let (width, last) = (channels.len(), segment.count as usize - 1);
        for t in 0..reach {
            let back = reach - 1 - t;
            for (c, channel) in channels.clone().enumerate() {
                // SAFETY: by the caller's word.
                unsafe {
                    let value = if back <= last {
                        self.x.f32([channel, segment.row as usize + last - back, 0, 0])
                    } else {
                        past[(reach + last - back) * width + c]
                    };
                    self.history.at([t, channel, segment.slot as usize, 0]).cast::<f32>().write(value);
                }
            }
        }
    }
}

/// Channels are shared out in blocks of this many.
const BLOCK: usize = 128;

struct Convolve {
    convolution: Convolution,
    segments: View,
    out: View,
}

fn build_conv(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let convolution = Convolution {
        simd: args.simd,
        x: args.view("x")?,
        weight: args.view("weight")?,
        history: args.view("history")?,
        dilation: args.constants().u32("dilation")? as usize,
    };
    Ok(Box::new(Convolve { convolution, segments: args.view("segments")?, out: args.view("out")? }))
}

impl Job for Convolve {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let conv = &self.convolution;
        let [channels, rows, ..] = conv.x.shape();
        let (count, reach) = (conv.weight.shape()[0], conv.history.shape()[0]);
        let mut segments = std::mem::take(&mut worker.segments);
        // SAFETY: inputs are not written while a program runs.
        unsafe { self.segments.segments(rows, conv.history.shape()[2], &mut segments)? };
        for block in worker.share(channels.div_ceil(BLOCK), 1) {
            let part = block * BLOCK..((block + 1) * BLOCK).min(channels);
            let width = part.len();
            let (taps, past) = worker.floats((count + reach) * width).split_at_mut(count * width);
            // SAFETY: each worker has its own channels; x and history are not written in this phase.
            unsafe {
                conv.taps(&part, taps);
                for segment in &segments {
                    conv.past(segment, &part, past);
                    for i in 0..segment.count as usize {
                        // The row is shared: this worker may hold its own channels of it only.
                        let out = self.out.at([part.start, segment.row as usize + i, 0, 0]).cast();
                        let out = std::slice::from_raw_parts_mut(out, width);
                        conv.token(segment, i, &part, (taps, past), out);
                    }
                }
            }
        }
        worker.segments = segments;
        Ok(())
    }
}

struct Store {
    convolution: Convolution,
    segments: View,
}

fn build_store(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let (x, history) = (args.view("x")?, args.view("history_out")?);
    let convolution = Convolution { simd: args.simd, x, weight: x, history, dilation: 1 };
    Ok(Box::new(Store { convolution, segments: args.view("segments")? }))
}

impl Job for Store {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let conv = &self.convolution;
        let [channels, rows, ..] = conv.x.shape();
        let reach = conv.history.shape()[0];
        let mut segments = std::mem::take(&mut worker.segments);
        // SAFETY: inputs are not written while a program runs.
        unsafe { self.segments.segments(rows, conv.history.shape()[2], &mut segments)? };
        for block in worker.share(channels.div_ceil(BLOCK), 1) {
            let part = block * BLOCK..((block + 1) * BLOCK).min(channels);
            let past = worker.floats(reach * part.len());
            for segment in &segments {
                // SAFETY: each worker has its own channels, and reads their history before it overwrites it.
                unsafe {
                    conv.past(segment, &part, past);
                    conv.store(segment, &part, past);
                }
            }
        }
        worker.segments = segments;
        Ok(())
    }
}
