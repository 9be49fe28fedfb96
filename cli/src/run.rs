//! `weft run`: one prompt, one answer.

use crate::answer;
use crate::args::{ModelArgs, SamplingArgs, SessionArgs};
use crate::interrupt::Interrupt;
use crate::{profile, report};
use anyhow::Context;
use clap::Args;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use weft::Model;
use weft::sampling::Sampler;
use weft::session::{Finish, Session};
use weft::template::Message;
use weft::tokenizer::EncodeOptions;
use weft_core::profile::Profile;

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
    /// Time each launch on its device and what the host does, and write them as a trace for Perfetto or chrome://tracing; a
    /// table follows the text. Slower as a whole; the text stays the same. See docs/profiles.md.
    #[arg(long, value_name = "OUT.json")]
    pub profile: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &RunArgs, profile: Option<Arc<Profile>>) -> anyhow::Result<()> {
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
    let model = args.model.open_with(profile.as_ref(), |model| args.session.drafting(model))?;
    if !args.quiet {
        report::note(&format!("{} on {}", model.name(), ModelArgs::device(&model)));
    }
    let ids = encode(&model, &prompt, args)?;
    let mut session = Session::new(&model, args.session.options()?)?;
    let mut sampler = Sampler::new(args.sampling.params(&model))?;
    let answer = answer::stream(&mut session, &mut sampler, &ids, &args.sampling.generate(), &interrupt)?;
    if !args.quiet {
        report::timings(&session);
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
    if let (Some(profile), Some(path)) = (&profile, &args.profile) {
        let options = format!("{} {:?}", ModelArgs::device(&model), session.options());
        profile::end(profile, path, profile::about(&model.name(), &options))?;
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
