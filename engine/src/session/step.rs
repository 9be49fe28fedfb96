//! One token in, the next one out: sampled where the logits are, or on the host.

use super::Session;
use crate::Error;
use crate::models::{Batch, Rows, names};
use crate::sampling::{Sampler, SamplingError};
use std::time::Instant;

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
        let started = Instant::now();
        self.inputs.sampling = draw.words();
        let batch = Batch { sample: true, ..self.batch(1, Rows::All) };
        let tickets = self.submit(batch, &[id])?;
        let mut words = [0i32; 2];
        self.output(&tickets, names::SAMPLED, bytemuck::cast_slice_mut(&mut words))?;
        self.tokens.push(id);
        self.unread = Some(tickets);
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
        if let Some(tickets) = self.unread.take() {
            let mut logits = std::mem::take(&mut self.logits);
            let outcome = self.output(&tickets, names::LOGITS, bytemuck::cast_slice_mut(&mut logits));
            self.logits = logits;
            outcome?;
        }
        Ok(&self.logits)
    }

    fn samples_on_device(&self) -> bool {
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
