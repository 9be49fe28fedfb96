//! A whole gated delta net between its projections: convolution by blocks of channels, then recurrence by heads.

use super::convolution::Convolution;
use super::delta::{HEADS, States, decay, key_head, sigmoid};
use super::norms::{gate, l2_factor, rms_factor};
use super::{Tuned, float_rows};
use crate::job::{Args, Job, Scratch, Worker};
use crate::simd::functions::{Function, apply, multiply_by};
use crate::simd::recurrent::Token;
use crate::simd::vector;
use crate::view::View;
use weft_core::contract::{Port, Stride};
use weft_core::kernels::KernelError;

pub(super) const TUNED: &[Tuned] =
    &[Tuned { stem: "gdn_layer", variant: "heads", exact: true, port, symbols: HEADS, build }];

fn port(port: Port) -> Port {
    let port = float_rows(port);
    match port.name {
        "conv" => port.strides([Stride::Packed, Stride::Packed, Stride::Any, Stride::Any]),
        "state" => port.packed(),
        _ => port,
    }
}

struct Layer {
    convolution: Convolution,
    states: States,
    segments: View,
    alpha: View,
    dt: View,
    a: View,
    beta: View,
    z: View,
    weight: View,
    out: View,
    key_heads: usize,
    map: u32,
    l2: (f32, u32),
    eps: f32,
    act: u32,
    /// Rows of convolved, activated and normalised channels.
    mixed: Scratch,
}

fn build(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let (x, state) = (args.view("x")?, args.view("state")?);
    let [channels, rows, ..] = x.shape();
    let mixed = args.scratch.take(channels * rows * 4);
    let constants = args.constants();
    Ok(Box::new(Layer {
        convolution: Convolution {
            simd: args.simd,
            x,
            weight: args.view("conv")?,
            history: args.view("history")?,
            dilation: constants.u32("dilation")? as usize,
        },
        states: States {
            simd: args.simd,
            from: state,
            to: state,
            snapshots: constants.u32("snapshots")? as usize,
        },
        segments: args.view("segments")?,
        alpha: args.view("alpha")?,
        dt: args.view("dt")?,
        a: args.view("a")?,
        beta: args.view("beta")?,
        z: args.view("z")?,
        weight: args.view("weight")?,
        out: args.view("out")?,
        key_heads: constants.u32("key_heads")? as usize,
        map: constants.u32("heads")?,
        l2: (constants.f32("l2_eps")?, constants.u32("form")?),
        eps: constants.f32("eps")?,
        act: constants.u32("act")?,
        mixed,
    }))
}

impl Layer {
    /// Some channels of a row of the scratch.
    ///
    /// # Safety
    /// The row and channels exist, and nobody writes them now.
    unsafe fn mixed<'a>(&self, row: usize, channel: usize, count: usize) -> &'a [f32] {
        let at = row * self.convolution.x.shape()[0] + channel;
        // SAFETY: by the caller's word.
        unsafe { std::slice::from_raw_parts(self.mixed.start().cast::<f32>().add(at), count) }
    }

    /// Convolution, SiLU and norms of a block of channels as long as a head.
    fn convolve(&self, worker: &mut Worker) {
        let conv = &self.convolution;
        let simd = conv.simd;
        let channels = conv.x.shape()[0];
        let dim = self.out.shape()[0];
        let (taps, reach) = (conv.weight.shape()[0], conv.history.shape()[0]);
        let segments = std::mem::take(&mut worker.segments);
        for block in worker.share(channels / dim, 1) {
            let part = block * dim..(block + 1) * dim;
            let (factors, past) = worker.floats((taps + reach) * dim).split_at_mut(taps * dim);
            // SAFETY: each worker has its own channels of scratch and history; x is not written in this phase. History
            // is read before it is overwritten.
            unsafe {
                conv.taps(&part, factors);
                for segment in &segments {
                    conv.past(segment, &part, past);
                    for i in 0..segment.count as usize {
                        let at = (segment.row as usize + i) * channels + part.start;
                        let start = self.mixed.start().cast::<f32>().add(at);
                        let out = std::slice::from_raw_parts_mut(start, dim);
                        conv.token(segment, i, &part, (factors, past), out);
                        apply(simd, Function::Silu, out);
                        if block < 2 * self.key_heads {
                            let factor = l2_factor(simd, out, self.l2.0, self.l2.1);
                            vector::scale(simd, factor, out);
                        }
                    }
                    conv.store(segment, &part, past);
                }
            }
        }
        worker.segments = segments;
    }

    fn recur(&self, worker: &mut Worker) {
        let [dim, heads, ..] = self.out.shape();
        let simd = self.states.simd;
        let segments = std::mem::take(&mut worker.segments);
        let share = worker.share(heads, 1);
        let room = worker.floats(self.states.room());
        for head in share {
            let key = key_head(self.map, head, heads, self.key_heads);
            for segment in &segments {
                let row = segment.row as usize;
                // SAFETY: heads are shared out among workers; the scratch is complete since the barrier; indices lie
                // inside by shape rule and segment check.
                unsafe {
                    let token = |i: usize| {
                        let at_head = [head, 0, 0, 0];
                        let at = [head, row + i, 0, 0];
                        Token {
                            q: self.mixed(row + i, key * dim, dim),
                            k: self.mixed(row + i, (self.key_heads + key) * dim, dim),
                            v: self.mixed(row + i, (2 * self.key_heads + head) * dim, dim),
                            gate: decay(self.alpha.f32(at), self.dt.f32(at_head), self.a.f32(at_head)),
                            beta: sigmoid(self.beta.f32(at)),
                        }
                    };
                    self.states.pass(segment, head, room, token, |i, out| {
                        let factor = rms_factor(simd, out, self.eps);
                        vector::scale(simd, factor, out);
                        vector::multiply(simd, self.weight.row([0; 3]), out);
                        multiply_by(simd, gate(self.act), self.z.row([head, row + i, 0]), out);
                        self.out.row_mut([head, row + i, 0]).copy_from_slice(out);
                    });
                }
            }
        }
        worker.segments = segments;
    }
}

impl Job for Layer {
    fn stages(&self) -> usize {
        2
    }

    fn run(&self, stage: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let rows = self.convolution.x.shape()[1];
        let slots =
            (self.states.to.shape()[3] / self.states.snapshots).min(self.convolution.history.shape()[2]);
        // SAFETY: inputs are not written while a program runs.
        unsafe { self.segments.segments(rows, slots, &mut worker.segments)? };
        if stage == 0 {
            self.convolve(worker)
        } else {
            self.recur(worker)
        }
        Ok(())
    }
}
