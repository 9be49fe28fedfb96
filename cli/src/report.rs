//! What people see besides the text: errors, notes, progress, colours.

use crate::{diff, replay};
use std::io::{ErrorKind, IsTerminal};
use std::time::Duration;
use weft::Error;
use weft_core::backend::DeviceError;
use weft_core::run::RunError;

/// Whether notes may be coloured: only on a terminal, and not against `NO_COLOR`.
fn coloured() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Writes what the library tells to standard error, from this level of detail on; by default warnings.
pub fn listen(verbose: u8) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let listener =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(coloured());
    // The program installs one listener and nobody else does.
    let _ = if verbose == 0 {
        listener.without_time().with_target(false).try_init()
    } else {
        listener.try_init()
    };
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

/// Prompt and decode rates, apart.
pub fn timings(timings: &weft::session::Timings) {
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
}
