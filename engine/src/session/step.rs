//! One token in, the next one out: sampled where the logits are, or on the host.

use super::{Session, Unread, inputs};
use crate::Error;
use crate::models::{Batch, Rows, names};
use crate::sampling::{Sampler, SamplingError};
use std::time::Instant;
use weft_core::run::Tickets;

/// Where tokens are sampled. A device samples only what [`SamplingParams::is_plain`](crate::sampling::SamplingParams::is_plain)
/// says it can; all else is for the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleOn {
    /// On the first device, if it has the kernel and prefers that.
    #[default]
    Auto,
    /// On the host, from logits that are read back.
    Host,
    /// On the device.
    Device,
}

impl SampleOn {
    /// All of them with their names.
    pub const NAMES: [(&str, Self); 3] =
        [("auto", SampleOn::Auto), ("host", SampleOn::Host), ("device", SampleOn::Device)];
}

/// A chosen token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// Its id.
    pub id: u32,
    /// Its log-probability in the softmax of the logits as they are, where a device told.
    pub log_probability: Option<f32>,
}

impl Session {
    /// Processes one token and chooses the next.
    ///
    /// Where a device samples, the logits stay there and a few bytes come back. Choices repeat with the sampler's seed on
    /// the same backend; draws of hosts and devices differ from each other.
    ///
    /// # Errors
    /// As [`Session::decode`] and [`Sampler::sample`].
    pub fn step(&mut self, id: u32, sampler: &mut Sampler) -> Result<Chosen, Error> {
        match self.sampled_step(id, sampler)? {
            Some(chosen) => Ok(chosen),
            None => {
                let id = sampler.sample(self.decode(id)?)?;
                Ok(Chosen { id, log_probability: None })
            }
        }
    }

    /// As [`Session::step`] where a device samples; `None` where it does not, and nothing was done.
    pub(super) fn sampled_step(&mut self, id: u32, sampler: &mut Sampler) -> Result<Option<Chosen>, Error> {
        if !self.samples_on_device() {
            return Ok(None);
        }
        self.check(&[id])?;
        let Some(draw) = sampler.draw() else { return Ok(None) };
        let _span = tracing::trace_span!("decode").entered();
        let started = Instant::now();
        self.inputs.sampling = inputs::words(&[draw]);
        let batch = Batch { sample: true, ..self.batch(1, Rows::All) };
        let tickets = self.submit(batch, &[id])?;
        let mut words = [0i32; 2];
        self.output(&tickets, names::SAMPLED, bytemuck::cast_slice_mut(&mut words))?;
        self.tokens.push(id);
        self.keep_unread(tickets, 1, 0);
        self.timings.decoded_tokens += 1;
        self.timings.decode += started.elapsed();
        let [id, bits] = words;
        let id = u32::try_from(id).map_err(|_| SamplingError::NoneFinite { count: self.logits.len() })?;
        Ok(Some(Chosen { id, log_probability: Some(f32::from_bits(bits.cast_unsigned())) }))
    }

    /// Logits after the last token, read from the device if they are still there.
    ///
    /// # Errors
    /// The device was lost. The session is empty then.
    pub fn fetch_logits(&mut self) -> Result<&[f32], Error> {
        if let Some(Unread { tickets, .. }) = self.unread.take_if(|unread| unread.rows == 1) {
            let mut logits = std::mem::take(&mut self.logits);
            let outcome = self.output(&tickets, names::LOGITS, bytemuck::cast_slice_mut(&mut logits));
            self.logits = logits;
            outcome?;
        }
        if let Some(row) = self.unread.as_ref().map(|unread| unread.row as usize) {
            self.fetch_rows()?;
            self.choose_row(row);
        }
        Ok(&self.logits)
    }

    /// Leaves logits on the device: of `rows` rows, `row` is the sequence's last.
    pub(super) fn keep_unread(&mut self, tickets: Tickets, rows: u64, row: u64) {
        self.unread = Some(Unread { tickets, rows, row });
    }

    /// Reads the logits of all rows of the last run.
    pub(super) fn fetch_rows(&mut self) -> Result<(), Error> {
        let Some(Unread { tickets, rows, .. }) = self.unread.take() else { return Ok(()) };
        let mut all = std::mem::take(&mut self.rows);
        all.resize(rows as usize * self.logits.len(), 0.0);
        let outcome = self.output(&tickets, names::LOGITS, bytemuck::cast_slice_mut(&mut all));
        self.rows = all;
        outcome
    }

    /// One of the rows that were read.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        let width = self.logits.len();
        &self.rows[row * width..(row + 1) * width]
    }

    /// Makes a row that was read the sequence's last.
    pub(super) fn choose_row(&mut self, row: usize) {
        let width = self.logits.len();
        self.logits.copy_from_slice(&self.rows[row * width..(row + 1) * width]);
    }

    pub(super) fn samples_on_device(&self) -> bool {
        let first = self.model.backends().first();
        match self.options.sample_on {
            SampleOn::Host => false,
            SampleOn::Device => true,
            SampleOn::Auto => first.is_some_and(|backend| {
                backend.capabilities().prefers_device_sampling
                    && backend.offers().iter().any(|offer| offer.contract.kernel == "sample")
            }),
        }
    }
}
