//! What `run` and `chat` have in common: a conversation as ids, an answer as it comes.

use crate::interrupt::Interrupt;
use std::io::Write;
use std::ops::ControlFlow;
use weft::Model;
use weft::sampling::Sampler;
use weft::session::{GenerateOptions, Generated, Session};
use weft::template::{Message, RenderOptions};
use weft::tokenizer::EncodeOptions;

/// The ids of a conversation, up to where the assistant speaks.
pub fn conversation(model: &Model, messages: &[Message]) -> anyhow::Result<Vec<u32>> {
    let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
    let text = model.template().render(messages, &options)?;
    Ok(model.tokenizer().encode(&text, EncodeOptions { add_special: false, parse_special: true })?)
}

/// Brings a session to `ids`, then prints the answer to standard output piece by piece, and ends the line.
pub fn stream(
    session: &mut Session,
    sampler: &mut Sampler,
    ids: &[u32],
    options: &GenerateOptions,
    interrupt: &Interrupt,
) -> anyhow::Result<Generated> {
    interrupt.during_prefill(session.cancel_handle(), || session.prefill_to(ids).map(|_| ()))?;
    sampler.reset();
    ids.iter().for_each(|id| sampler.accept(*id));
    let mut out = std::io::stdout().lock();
    let mut failed = None;
    let answer = session.generate(sampler, options, |text| {
        failed = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        if failed.is_some() || interrupt.pressed() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    writeln!(out)?;
    Ok(answer)
}
