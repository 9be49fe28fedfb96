//! `weft doctor`: which devices there are, what falls back on them and why, and what is wrong with them.

use crate::args::BackendArgs;
use crate::report;
use anyhow::bail;
use clap::Args;
use serde_json::{Map, Value, json};
use std::io::Write;
use weft::Error;
use weft::backends::{self, BackendOptions, DeviceReport, Found, KernelReport};

/// Arguments of `weft doctor`.
#[derive(Args)]
#[command(
    after_help = "Lists every device of each backend that is part of this program; with --backend NAME those of one. Of a \
    kernel with several variants the first that fits is taken. Fails if no device works."
)]
pub struct DoctorArgs {
    #[command(flatten)]
    backend: BackendArgs,
    /// Print all of it as JSON, whose form docs/doctor.md describes.
    #[arg(long)]
    json: bool,
    /// Do not measure what a copy reaches on each device.
    #[arg(long)]
    no_copy: bool,
}

/// What the field `format` says.
const FORMAT: &str = "weft-doctor";
/// The version that is written.
const VERSION: u64 = 1;

/// Runs the command.
pub fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let options = BackendOptions { measure: !args.no_copy, ..args.backend.options() };
    let asked = args.backend.backend.split(':').next().unwrap_or_default();
    let found = backends::found((asked != "auto").then_some(asked), &options);
    let order = order(args);
    let mut out = std::io::stdout().lock();
    if args.json {
        let all = record(&found, &args.backend.backend, &order);
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        found.iter().try_for_each(|found| device(&mut out, found))?;
    }
    let order = order?;
    if !args.json {
        writeln!(out, "--backend {} takes {}", args.backend.backend, order.join(", then "))?;
    }
    if found.iter().all(|found| found.status.is_err()) {
        bail!("no device works");
    }
    Ok(())
}

/// The devices that `--backend` takes, in words.
fn order(args: &DoctorArgs) -> Result<Vec<String>, Error> {
    let opened = backends::open(&args.backend.backend, &args.backend.options())?;
    Ok(opened.iter().map(|b| format!("{} ({})", b.name(), b.capabilities().device)).collect())
}

fn device(out: &mut impl Write, found: &Found) -> anyhow::Result<()> {
    let backend = found.backend;
    let name = found.device.as_ref().map(|(index, name)| format!("{index}: {name}"));
    match (&found.status, name) {
        (Ok(_), name) => writeln!(out, "{backend}:{}: works", name.unwrap_or_default())?,
        (Err(reason), None) => writeln!(out, "{backend}: {reason}")?,
        (Err(reason), Some(name)) => writeln!(out, "{backend}:{name}: {reason}")?,
    }
    let mut lines = found.detail.clone();
    if let Ok((report, copy)) = &found.status {
        let copy = copy.map_or_else(|| "not measured".to_owned(), |rate| format!("{:.1} GB/s", rate / 1e9));
        lines.push(("a copy moves".to_owned(), copy));
        // What the driver has said already need not be said again.
        lines.extend(
            words(report).into_iter().filter(|(what, _)| found.detail.iter().all(|(w, _)| w != what)),
        );
    }
    let width = lines.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
    for (what, value) in lines {
        writeln!(out, "  {what:<width$}  {value}")?;
    }
    Ok(writeln!(out)?)
}

/// A report in lines: what and its value.
fn words(report: &DeviceReport) -> Vec<(String, String)> {
    let known = |bytes: Option<u64>, unknown: &str| bytes.map_or_else(|| unknown.to_owned(), report::bytes);
    let kernels = &report.kernels;
    let here = kernels.iter().filter(|kernel| kernel.absent.is_none()).count();
    let features = if report.features.is_empty() { "none".to_owned() } else { report.features.join(", ") };
    let mut all = vec![
        ("memory free".to_owned(), known(report.memory_free, "the driver does not tell")),
        ("largest buffer".to_owned(), known(report.largest_buffer, "no limit")),
        ("features in use".to_owned(), features),
        ("sampling".to_owned(), if report.samples { "here" } else { "on the host" }.to_owned()),
        ("kernels".to_owned(), format!("{here} of {}", kernels.len())),
    ];
    let several = kernels.iter().filter(|kernel| kernel.variants.len() > 1);
    all.extend(several.map(|kernel| (kernel.kernel.to_owned(), variants(kernel))));
    all.extend(kernels.iter().flat_map(falls_back));
    all
}

/// Variants in the order in which they are asked.
fn variants(kernel: &KernelReport) -> String {
    let name = |v: &backends::VariantReport| match v.exact {
        true => v.variant.to_owned(),
        false => format!("{} (rounds)", v.variant),
    };
    kernel.variants.iter().map(name).collect::<Vec<_>>().join(", else ")
}

/// What of a kernel falls back, and why.
fn falls_back(kernel: &KernelReport) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for missing in &kernel.missing {
        let what = format!("no {}/{}", kernel.kernel, missing.variant);
        all.push((what, format!("another variant runs: the device lacks {}", missing.needs.join(", "))));
    }
    if let Some(absent) = &kernel.absent {
        let instead = match absent.instead {
            "parts" => "its parts run one by one",
            _ => "the next device runs it",
        };
        all.push((format!("no {}", kernel.kernel), format!("{instead}: {}", absent.reason)));
    }
    all
}

fn record(found: &[Found], asked: &str, order: &Result<Vec<String>, Error>) -> Value {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    json!({
        "format": FORMAT,
        "version": VERSION,
        "weft": env!("CARGO_PKG_VERSION"),
        "host": {
            "system": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
            "processors": processors,
        },
        "devices": found.iter().map(of_device).collect::<Vec<_>>(),
        "backend": {
            "asked": asked,
            "takes": order.as_ref().ok(),
            "error": order.as_ref().err().map(Error::to_string),
        },
    })
}

fn of_device(found: &Found) -> Value {
    let detail: Map<String, Value> =
        found.detail.iter().map(|(what, value)| (what.clone(), json!(value))).collect();
    let report = found.status.as_ref().ok();
    json!({
        "backend": found.backend,
        "index": found.device.as_ref().map(|(index, _)| index),
        "name": found.device.as_ref().map(|(_, name)| name),
        "driver": detail,
        "works": report.is_some(),
        "self_test": report.map(|_| "passed"),
        "error": found.status.as_ref().err(),
        "copy_bytes_per_second": report.and_then(|(_, copy)| *copy),
        "report": report.map(|(report, _)| report),
    })
}
