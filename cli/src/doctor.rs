//! `weft doctor`: which devices there are, and what is wrong with them.

use crate::args::BackendArgs;
use anyhow::bail;
use clap::Args;
use std::io::Write;
use weft::backends::{self, Found};

/// Arguments of `weft doctor`.
#[derive(Args)]
#[command(
    after_help = "Lists every device of each backend that is part of this program; with --backend NAME those of one. Of a \
    kernel with several variants the first that fits is taken. Fails if no device works."
)]
pub struct DoctorArgs {
    #[command(flatten)]
    backend: BackendArgs,
}

/// Runs the command.
pub fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let options = args.backend.options();
    let asked = args.backend.backend.split(':').next().unwrap_or_default();
    let mut out = std::io::stdout().lock();
    let mut works = false;
    for found in backends::found((asked != "auto").then_some(asked), &options) {
        works |= found.status.is_ok();
        device(&mut out, &found)?;
    }
    let opened = backends::open(&args.backend.backend, &options)?;
    let order: Vec<String> =
        opened.iter().map(|b| format!("{} ({})", b.name(), b.capabilities().device)).collect();
    writeln!(out, "--backend {} takes {}", args.backend.backend, order.join(", then "))?;
    if !works {
        bail!("no device works");
    }
    Ok(())
}

fn device(out: &mut impl Write, found: &Found) -> anyhow::Result<()> {
    let Found { backend, device, detail, status } = found;
    match status {
        Ok(()) => writeln!(out, "{backend}: {device}: works")?,
        Err(reason) if device.is_empty() => writeln!(out, "{backend}: {reason}")?,
        Err(reason) => writeln!(out, "{backend}: {device}: {reason}")?,
    }
    let width = detail.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
    for (what, value) in detail {
        writeln!(out, "  {what:<width$}  {value}")?;
    }
    Ok(writeln!(out)?)
}
