//! The `weft` command: runs hybrid Gated-DeltaNet language models from GGUF files.

mod answer;
mod args;
mod cache;
mod chat;
mod diff;
mod doctor;
mod info;
mod interrupt;
mod logits;
mod memory;
mod plan;
mod profile;
mod quantize;
mod replay;
mod report;
mod run;
mod synth;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use weft_core::profile::Profile;
use weft_core::rules::Rule;

/// Runs hybrid Gated-DeltaNet language models (Qwen3.5 and its relatives) and plain transformers from GGUF files.
///
/// Without -m, a small story-telling model that is part of the program is used:
///
///   weft run "Tell me a story about a shy dragon."
///
/// Exit codes: 0 done, 1 failed while running, 2 bad arguments or a bad file.
#[derive(Parser)]
#[command(name = "weft", version, max_term_width = 110)]
struct Cli {
    /// Tell on standard error what is done: -v plans, -vv each dispatch and ubatch.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer one prompt and print the text as it comes.
    Run(run::RunArgs),
    /// Talk over several turns. Ctrl-C stops an answer, Ctrl-D or /exit ends the talk.
    Chat(chat::ChatArgs),
    /// Show what is in a file: metadata, tensors, and the memory that contexts need.
    Info(info::InfoArgs),
    /// Show how a model would be run: dispatches, fusions, memory, and why.
    Plan(plan::PlanArgs),
    /// Run a graph file alone, on any device, and compare two runs of it.
    Replay(replay::ReplayArgs),
    /// Run a model in two ways beside each other and find the first tensor, and the kernel, in which they part.
    Diff(diff::DiffArgs),
    /// Write the logits of given token ids to a file: for comparisons with other engines.
    Logits(logits::LogitsArgs),
    /// Tell which devices are found, what they can do, and what is wrong with them.
    Doctor(doctor::DoctorArgs),
    /// Write a model's matrices in another type, streaming: Q4_K_M, Q8_0 and others.
    Quantize(quantize::QuantizeArgs),
    /// Write a model of random weights: for planning and measuring without a download.
    Synth(synth::SynthArgs),
}

impl Command {
    /// A profile, if the command is to make one.
    fn profile(&self) -> Option<Arc<Profile>> {
        matches!(self, Command::Run(args) if args.profile.is_some()).then(Arc::default)
    }
}

/// Runs the command that the program's arguments name.
pub fn main() -> ExitCode {
    let cli = Cli::parse_from(args::written_out(std::env::args_os()));
    let profile = cli.command.profile();
    report::listen(cli.verbose, profile.as_ref());
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args, profile),
        Command::Chat(args) => chat::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Logits(args) => logits::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Quantize(args) => quantize::run(&args),
        Command::Synth(args) => synth::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe has gone: nothing is wrong.
        Err(error) if report::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report::error(&error);
            ExitCode::from(report::exit_code(&error))
        }
    }
}

/// `weft plan` with these arguments, the command's name first, by these fused rules.
///
/// # Errors
/// The arguments or files are bad, or nothing takes a node of the graph.
pub fn plan_by(rules: &[&'static Rule], arguments: &[&str], out: &mut impl Write) -> anyhow::Result<()> {
    #[derive(Parser)]
    struct Plan {
        #[command(flatten)]
        args: plan::PlanArgs,
    }
    plan::run_by(rules, &Plan::try_parse_from(arguments)?.args, out)
}
