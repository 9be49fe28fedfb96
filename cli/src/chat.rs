//! `weft chat`: several turns, with their history.

use crate::answer;
use crate::args::{ModelArgs, SamplingArgs, SessionArgs};
use crate::interrupt::Interrupt;
use crate::report;
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};
use weft::sampling::Sampler;
use weft::session::{Finish, Session};
use weft::template::Message;

/// Arguments of `weft chat`.
#[derive(Args)]
#[command(after_help = "While talking: /reset forgets the conversation, /stats shows rates, /exit ends.")]
pub struct ChatArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// What the model is told before the conversation.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
}

/// Runs the command.
pub fn run(args: &ChatArgs) -> anyhow::Result<()> {
    let interrupt = Interrupt::install()?;
    let model = args.model.open_with(None, |model| args.session.drafting(model))?;
    report::note(&format!("{} on {}", model.name(), ModelArgs::device(&model)));
    let mut session = Session::new(&model, args.session.options()?)?;
    let begin = || args.system.iter().map(|text| Message::new("system", text.as_str())).collect::<Vec<_>>();
    let mut messages = begin();
    let mut sampler = Sampler::new(args.sampling.params(&model))?;
    let mut input = std::io::stdin().lock();
    loop {
        interrupt.clear();
        if std::io::stdin().is_terminal() {
            eprint!("> ");
            std::io::stderr().flush()?;
        }
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        match line.trim() {
            "" => continue,
            "/exit" | "/quit" => return Ok(()),
            "/stats" => {
                report::timings(&session);
                continue;
            }
            "/reset" => {
                session.reset();
                messages = begin();
                continue;
            }
            text => messages.push(Message::new("user", text)),
        }
        match turn(&model, &mut session, &mut sampler, &messages, args, &interrupt) {
            Ok(text) => messages.push(Message::new("assistant", text)),
            // A stopped prompt: the question goes, the conversation stays.
            Err(error) if matches!(error.downcast_ref(), Some(weft::Error::Cancelled { .. })) => {
                report::note("stopped");
                messages.pop();
            }
            Err(error) if matches!(error.downcast_ref(), Some(weft::Error::Context { .. })) => {
                report::error(&error);
                report::note("/reset starts over");
                messages.pop();
            }
            Err(error) => return Err(error),
        }
    }
}

/// The next turn's text.
fn turn(
    model: &weft::Model,
    session: &mut Session,
    sampler: &mut Sampler,
    messages: &[Message],
    args: &ChatArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<String> {
    let ids = answer::conversation(model, messages)?;
    let done = answer::stream(session, sampler, &ids, &args.sampling.generate(), interrupt)?;
    match done.finish {
        Finish::Callback => report::note("stopped"),
        Finish::Context => report::note("the context is full: /reset starts over"),
        _ => {}
    }
    Ok(done.text)
}
