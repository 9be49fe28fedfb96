//! Text from a prompt, token by token.

use super::stop::{Found, StopFinder};
use super::{Chosen, SampleOn, Session};
use crate::Error;
use crate::sampling::Sampler;
use crate::tokenizer::Detokenizer;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// When to stop.
#[derive(Clone, Debug, Default)]
pub struct GenerateOptions {
    /// Most tokens; 0 goes on until the model ends or the context is full.
    pub max_tokens: u64,
    /// Text that ends the answer; it is not part of it.
    pub stops: Vec<String>,
    /// Go on after the model's own end tokens.
    pub ignore_end: bool,
    /// Show control tokens in the text.
    pub show_special: bool,
}

/// Why generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model's end token.
    End,
    /// The stop string of this index.
    Stop(usize),
    /// The most tokens asked for.
    Length,
    /// The context is full.
    Context,
    /// The callback said so.
    Callback,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Tokens, the end token not counted.
    pub ids: Vec<u32>,
    /// Their text, without a stop string.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
}

impl Session {
    /// Continues from the logits after the last token: samples, shows, decodes, until something ends it. Call after a
    /// prefill. The first token is sampled on the host; where the others are, [`SessionOptions::sample_on`](super::SessionOptions::sample_on) says.
    ///
    /// `on_text` gets complete pieces of text as they come and may break off.
    ///
    /// # Errors
    /// Logits are not numbers; the run failed or was cancelled.
    pub fn generate(
        &mut self,
        sampler: &mut Sampler,
        options: &GenerateOptions,
        mut on_text: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Generated, Error> {
        if self.tokens().is_empty() {
            return Err(Error::EmptyPrompt);
        }
        if self.options().sample_on == SampleOn::Device && !sampler.params().is_plain() {
            tracing::warn!("the sampling parameters ask for more than a device does: the host samples");
        }
        let model = std::sync::Arc::clone(self.model());
        let tokenizer = model.tokenizer();
        let mut detokenizer = Detokenizer::new(tokenizer, options.show_special);
        let mut finder = StopFinder::new(&options.stops);
        let mut done = Generated { ids: Vec::new(), text: String::new(), finish: Finish::Length };
        // Chosen tokens, all but the last of them processed.
        let mut chosen = VecDeque::new();
        loop {
            if options.max_tokens > 0 && done.ids.len() as u64 >= options.max_tokens {
                self.rewind((chosen.len() as u64).saturating_sub(1))?;
                break;
            }
            let id = match chosen.pop_front() {
                Some(Chosen { id, .. }) => id,
                None => sampler.sample(self.fetch_logits()?)?,
            };
            // What is processed of it and behind it, should this token be the last.
            let surplus = chosen.len() as u64;
            if tokenizer.is_end(id) && !options.ignore_end {
                done.finish = Finish::End;
                self.rewind(surplus)?;
                break;
            }
            if surplus == 0 {
                sampler.accept(id);
            }
            done.ids.push(id);
            let found = finder.push(detokenizer.push(id)?);
            let (text, stop) = match found {
                Found::Text(text) => (text, None),
                Found::Stop(text, index) => (text, Some(index)),
            };
            done.text.push_str(&text);
            let broken = !text.is_empty() && on_text(&text).is_break();
            if let Some(index) = stop {
                done.finish = Finish::Stop(index);
                self.rewind(surplus)?;
                return Ok(done);
            }
            if broken {
                done.finish = Finish::Callback;
                self.rewind(surplus)?;
                return Ok(done);
            }
            if surplus > 0 {
                continue;
            }
            if self.tokens().len() as u64 >= self.context() {
                done.finish = Finish::Context;
                break;
            }
            if self.options().speculation.is_some() {
                chosen.extend(self.speculate(id, sampler)?);
            } else if let Some(next) = self.sampled_step(id, sampler)? {
                chosen.push_back(next);
            } else {
                self.decode(id)?;
            }
        }
        // What was held back, for a stop string or for the rest of a character.
        let mut rest = match finder.push(detokenizer.finish()) {
            Found::Text(text) | Found::Stop(text, _) => text,
        };
        rest.push_str(&finder.finish());
        if !rest.is_empty() {
            done.text.push_str(&rest);
            let _ = on_text(&rest);
        }
        Ok(done)
    }
}
