//! Speculation: guesses of the next tokens, checked by the model in one small ubatch.
//!
//! Guesses are single tokens, so keeping one exactly where the sampler draws it leaves the distribution of the text as it
//! is: what is drawn never depends on what was guessed. States of tokens that were guessed wrong are taken back by starting
//! from an older snapshot; nothing of them passes through the host.

use super::drafter::{DraftBy, Drafter};
use super::{Chosen, Session, inputs};
use crate::Error;
use crate::models::{Batch, Rows, names};
use crate::sampling::{Sampler, SamplingError};
use std::time::Instant;

/// How next tokens are guessed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speculation {
    /// Who guesses.
    pub by: DraftBy,
    /// Most tokens of one guess, 1 to 16.
    pub most: u64,
    /// A drafter stops before a token that it gives less than this probability; 0 never does.
    pub least_probability: f32,
}

impl Default for Speculation {
    fn default() -> Self {
        Speculation { by: DraftBy::Mtp, most: 3, least_probability: 0.0 }
    }
}

impl Speculation {
    /// A ubatch of a sequence whose tokens are guessed.
    pub(super) fn batch(&self, batch: Batch, ubatch: u64) -> Batch {
        let kept = match self.by {
            // Those of a ubatch, of one token before it, and of a round.
            DraftBy::Mtp => ubatch + self.most + 3,
            DraftBy::Ngram => 0,
        };
        Batch { snapshots: self.most + 1, kept, ..batch }
    }

    pub(super) fn validate(&self) -> Result<(), Error> {
        if !(1..=16).contains(&self.most) {
            let value = self.most.to_string();
            return Err(Error::Option {
                name: "speculation.most",
                value,
                why: "it must lie between 1 and 16",
            });
        }
        if !(0.0..=1.0).contains(&self.least_probability) {
            let value = self.least_probability.to_string();
            return Err(Error::Option {
                name: "speculation.least_probability",
                value,
                why: "it must lie between 0 and 1",
            });
        }
        Ok(())
    }
}

impl Session {
    /// Processes one token and as many guesses of the next as come true, and chooses the one after them: all of these in
    /// order. All but the last are processed. One token where nothing could be guessed.
    ///
    /// # Errors
    /// As [`Session::step`].
    pub(super) fn speculate(&mut self, id: u32, sampler: &mut Sampler) -> Result<Vec<Chosen>, Error> {
        self.check(&[id])?;
        let started = Instant::now();
        let room = self.context - self.tokens.len() as u64 - 1;
        let guesses = tracing::trace_span!("draft")
            .in_scope(|| self.with_drafter(|drafter, session| drafter.guess(session, id, room)))?;
        if guesses.is_empty() {
            self.timings.decode += started.elapsed();
            return Ok(vec![self.step(id, sampler)?]);
        }
        let mut ids = vec![id];
        ids.extend(&guesses);
        let chosen = tracing::trace_span!("decode").in_scope(|| self.verify(&ids, sampler))?;
        let kept = chosen.len() as u64 - 1;
        self.rewind(guesses.len() as u64 - kept)?;
        self.timings.decoded_tokens += kept + 1;
        self.timings.drafted_tokens += guesses.len() as u64;
        self.timings.kept_tokens += kept;
        self.timings.decode += started.elapsed();
        Ok(chosen)
    }

    /// Processes a token and its guesses and draws from row after row until one is not what was guessed.
    fn verify(&mut self, ids: &[u32], sampler: &mut Sampler) -> Result<Vec<Chosen>, Error> {
        let rows = ids.len() as u64;
        let batch = self.batch(rows, Rows::All);
        let nothing = SamplingError::NoneFinite { count: self.logits.len() };
        let mut chosen = Vec::with_capacity(ids.len());
        if self.samples_on_device() && sampler.params().is_plain() {
            let draws: Vec<_> = ids.iter().filter_map(|_| sampler.draw()).collect();
            self.inputs.sampling = inputs::words(&draws);
            let tickets = self.submit(Batch { sample: true, ..batch }, ids)?;
            let mut words = vec![[0i32; 2]; ids.len()];
            self.output(&tickets, names::SAMPLED, bytemuck::cast_slice_mut(&mut words))?;
            self.tokens.extend_from_slice(ids);
            for (row, [id, bits]) in words.into_iter().enumerate() {
                let id = u32::try_from(id).map_err(|_| nothing.clone())?;
                let log_probability = Some(f32::from_bits(bits.cast_unsigned()));
                chosen.push(Chosen { id, log_probability });
                if ids.get(row + 1) != Some(&id) {
                    break;
                }
            }
            sampler.give_back(ids.len() - chosen.len());
            self.keep_unread(tickets, rows, chosen.len() as u64 - 1);
            return Ok(chosen);
        }
        let tickets = self.submit(batch, ids)?;
        self.keep_unread(tickets, rows, 0);
        self.fetch_rows()?;
        self.tokens.extend_from_slice(ids);
        for row in 0..ids.len() {
            let id = sampler.sample(self.row(row))?;
            chosen.push(Chosen { id, log_probability: None });
            if ids.get(row + 1) != Some(&id) {
                break;
            }
            sampler.accept(id);
        }
        self.choose_row(chosen.len() - 1);
        Ok(chosen)
    }

    /// Takes back the last tokens, which costs nothing: the next run starts from an older snapshot.
    ///
    /// A recurrent state can be taken back by no more tokens than there are snapshots since the last run: up to the guesses
    /// of one round of speculation. Other models can be taken back to any place.
    ///
    /// # Errors
    /// [`Error::Rewind`] if that is too far. Nothing has changed then.
    pub fn rewind(&mut self, tokens: u64) -> Result<(), Error> {
        let held = self.tokens.len() as u64;
        let whole = tokens == held || !self.model.description().is_recurrent();
        if tokens > held || !whole && tokens > self.planes {
            let possible = if self.model.description().is_recurrent() { self.planes } else { held };
            return Err(Error::Rewind { asked: tokens, possible });
        }
        self.tokens.truncate((held - tokens) as usize);
        self.plane += tokens;
        self.planes = self.planes.saturating_sub(tokens);
        if self.tokens.is_empty() {
            (self.plane, self.planes) = (0, 0);
        }
        let left = self.tokens.len() as u64;
        if let Some(Drafter::Mtp(drafter)) = &mut self.drafter {
            drafter.cut(left);
        }
        Ok(())
    }
}
