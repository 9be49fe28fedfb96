//! `weft run`: one prompt, one answer.

use crate::answer;
use crate::args::{ModelArgs, SamplingArgs, SessionArgs};
use crate::interrupt::Interrupt;
use crate::report;
use anyhow::Context;
use clap::Args;
use std::io::Read;
use weft::Model;
use weft::sampling::Sampler;
use weft::session::{Finish, Session};
use weft::template::Message;
use weft::tokenizer::EncodeOptions;

/// Arguments of `weft run`.
#[derive(Args)]
#[command(after_help = "Examples:\n  weft run \"Tell me a story about a shy dragon.\"\n  \
    weft run -m model.gguf -n 200 --temp 0 \"Why is the sky blue?\"\n  \
    weft run -m model.gguf --raw \"Once upon a time\"\n  cat question.txt | weft run -m model.gguf -")]
pub struct RunArgs {
    /// The prompt; - reads it from standard input.
    prompt: String,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Continue the prompt as it stands, without the file's chat template.
    #[arg(long)]
    raw: bool,
    /// What the model is told before the prompt.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Print nothing but the text.
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    let prompt = match args.prompt.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("reading the prompt from standard input")?;
            text
        }
        text => text.to_owned(),
    };
    if prompt.is_empty() {
        return Err(weft::Error::EmptyPrompt.into());
    }
    let interrupt = Interrupt::install()?;
    let model = args.model.open_with(|model| args.session.drafting(model))?;
    if !args.quiet {
        report::note(&format!("{} on {}", model.name(), ModelArgs::device(&model)));
    }
    let ids = encode(&model, &prompt, args)?;
    let mut session = Session::new(&model, args.session.options()?)?;
    let mut sampler = Sampler::new(args.sampling.params(&model))?;
    let answer = answer::stream(&mut session, &mut sampler, &ids, &args.sampling.generate(), &interrupt)?;
    if !args.quiet {
        report::timings(session.timings());
        let why = match answer.finish {
            Finish::Context => Some("the context is full: raise it with --ctx"),
            Finish::Callback => Some("stopped"),
            _ => None,
        };
        why.into_iter().for_each(report::note);
        if args.sampling.temperature > 0.0 {
            report::note(&format!("seed {}", sampler.seed()));
        }
    }
    Ok(())
}

fn encode(model: &Model, prompt: &str, args: &RunArgs) -> anyhow::Result<Vec<u32>> {
    if args.raw {
        let options = EncodeOptions { add_special: true, parse_special: true };
        return Ok(model.tokenizer().encode(prompt, options)?);
    }
    let system = args.system.iter().map(|text| Message::new("system", text.as_str()));
    answer::conversation(model, &system.chain([Message::new("user", prompt)]).collect::<Vec<_>>())
}
