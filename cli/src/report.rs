//! What people see besides the text: errors, notes, progress, colours.

use crate::profile::Spans;
use crate::{diff, replay};
use std::io::{ErrorKind, IsTerminal};
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use weft::Error;
use weft::session::Session;
use weft_core::backend::DeviceError;
use weft_core::profile::Profile;
use weft_core::run::RunError;

/// Whether notes may be coloured: only on a terminal, and not against `NO_COLOR`.
fn coloured() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Writes what the library tells to standard error, from this level of detail on; by default warnings. A profile gets the
/// spans.
pub fn listen(verbose: u8, profile: Option<&Arc<Profile>>) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let shown = fmt::layer().with_writer(std::io::stderr).with_ansi(coloured());
    let shown = if verbose == 0 { shown.without_time().with_target(false).boxed() } else { shown.boxed() };
    let shown = shown.with_filter(LevelFilter::from_level(level));
    let spans = profile.map(|profile| {
        let ours = filter_fn(|about| about.is_span() && about.target().starts_with("weft"));
        Spans(Arc::clone(profile)).with_filter(ours)
    });
    // The program installs one listener and nobody else does.
    let _ = tracing_subscriber::registry().with(shown).with(spans).try_init();
}

/// One line, cause by cause.
pub fn error(error: &anyhow::Error) {
    let text = format!("{error:#}");
    let text = text.lines().collect::<Vec<_>>().join("; ");
    if coloured() { eprintln!("\x1b[31merror:\x1b[0m {text}") } else { eprintln!("error: {text}") }
}

/// A dim line on standard error.
pub fn note(text: &str) {
    if coloured() { eprintln!("\x1b[2m{text}\x1b[0m") } else { eprintln!("{text}") }
}

/// 2 for what the caller gave, 1 for what happened while running.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    let apart = error.chain().any(|cause| cause.is::<replay::Apart>() || cause.is::<diff::Apart>());
    let running = error.chain().any(|cause| match cause.downcast_ref::<Error>() {
        Some(Error::Run(RunError::Device(device))) => !matches!(device, DeviceError::OutOfMemory { .. }),
        Some(Error::Run(_) | Error::Cancelled { .. } | Error::Sampling(_)) => true,
        _ => false,
    });
    if running || apart { 1 } else { 2 }
}

/// Whether the reader of our output has gone.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}

/// A progress bar on a terminal; elsewhere nothing.
pub fn bar(what: &str, total: u64) -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::new(total);
    let style = indicatif::ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// Shows how many shaders are compiled, where that takes long enough to be seen.
pub fn shaders() -> weft::backends::ShaderProgress {
    let shown: std::sync::Mutex<Option<indicatif::ProgressBar>> = std::sync::Mutex::default();
    weft::backends::ShaderProgress(std::sync::Arc::new(move |done, total| {
        let mut shown = shown.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bar = shown.get_or_insert_with(|| {
            let bar = bar("compiling shaders", 0);
            if let Ok(style) = indicatif::ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        if done == total {
            bar.finish_and_clear();
            *shown = None;
        }
    }))
}

/// Bytes in GiB, MiB or KiB.
pub fn bytes(count: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) => format!("{:.2} {unit}", count as f64 / *size as f64),
        None => format!("{count} B"),
    }
}

/// Prompt and decode rates, apart, and what the runs of plans did.
pub fn timings(session: &Session) {
    let timings = session.timings();
    let seconds = |time: Duration| time.as_secs_f64();
    note(&format!(
        "prompt {} tokens, {:.1} tokens/s · decoded {} tokens, {:.1} tokens/s · planning {:.3} s",
        timings.prompt_tokens,
        timings.prompt_rate(),
        timings.decoded_tokens,
        timings.decode_rate(),
        seconds(timings.planning),
    ));
    if timings.drafted_tokens > 0 {
        note(&format!(
            "guessed {} tokens, kept {} ({:.2})",
            timings.drafted_tokens,
            timings.kept_tokens,
            timings.kept_tokens as f64 / timings.drafted_tokens as f64,
        ));
    }
    let counters = session.counters();
    let each = |count: u64| counters.per_run(count);
    let all = &counters.all;
    note(&format!(
        "each of {} runs: {:.1} launches, {:.1} of them fused; {:.1} fallbacks, {:.1} revoked, {:.1} splits, {:.1} copies \
         between devices",
        counters.runs,
        each(all.dispatches),
        each(all.claims),
        each(all.fallbacks),
        each(all.revocations),
        each(all.splits),
        each(all.copies),
    ));
}
