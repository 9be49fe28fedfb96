//! The tables of the page.

use super::mix::{KINDS, Mix};
use super::models::Model;
use super::work::{MATRIX, PEAK, REACHED, Step, Work};
use crate::notes::Kernel;
use std::collections::BTreeMap;

/// Tokens behind which one is decoded, and of the prefill.
pub const DEPTHS: [u64; 3] = [0, 4096, 18_782];
pub const PREFILL: u64 = 512;

/// A model with its steps: a decoded token at each depth, and the prefill.
pub struct Steps {
    pub model: Model,
    pub decode: [Step; 3],
    pub prefill: Step,
}

impl Steps {
    pub fn of(model: Model) -> Steps {
        let decode = DEPTHS.map(|depth| Step::of(&model, 1, depth));
        let prefill = Step::of(&model, PREFILL, 0);
        Steps { model, decode, prefill }
    }

    fn name(&self) -> String {
        format!("{} {}", self.model.name, self.model.weights)
    }
}

/// A row a step of each model.
pub fn summary(all: &[Steps]) -> String {
    let mut text =
        "| model | step | launches | MB a token | GFLOP a token | tokens/s at 221 GB/s | at 256 GB/s | \
        published by others, tokens/s |\n|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for steps in all {
        let mut row = |model: &str, what: String, step: &Step, others: &str| {
            let (total, tokens) = (step.total(), step.tokens as f64);
            text += &format!(
                "| {model} | {what} | {} | {:.0} | {:.2} | {} | {} | {others} |\n",
                total.launches,
                total.bytes as f64 / tokens / 1e6,
                total.flops as f64 / tokens / 1e9,
                rate(tokens / total.reached),
                rate(tokens / total.peak),
            );
        };
        for (step, depth) in steps.decode.iter().zip(DEPTHS) {
            let first = depth == 0;
            let (model, others) = if first { (steps.name(), steps.model.decode) } else { Default::default() };
            row(&model, format!("decode at {depth}"), step, others);
        }
        row("", format!("prefill {PREFILL}"), &steps.prefill, steps.model.prefill);
    }
    text
}

fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// What the steps of a model consist of.
pub fn parts(steps: &Steps) -> String {
    let decode = ("decode at 0", &steps.decode[0]);
    let prefill = ("prefill 512", &steps.prefill);
    let tables = [decode, prefill].map(|(what, step)| of_step(what, step));
    format!("### {}\n\n{}", steps.name(), tables.join("\n"))
}

/// Parts of less than this share of a step stand in one row.
const SMALL: f64 = 0.01;

fn of_step(what: &str, step: &Step) -> String {
    let total = step.total();
    let mut text = format!(
        "| {what} | launches | MB a token | MFLOP a token | ms at 221 GB/s | at 256 GB/s | at 59 TFLOP/s |\n\
         |---|---|---|---|---|---|---|\n"
    );
    let (mut rest, mut count) = (Work::default(), 0);
    for (entries, work) in &step.groups {
        if work.reached < SMALL * total.reached {
            rest.join(work);
            count += 1;
        } else {
            text += &part(entries, work, step.tokens);
        }
    }
    if count > 0 {
        text += &part(&format!("{count} others"), &rest, step.tokens);
    }
    text + &part("**all**", &total, step.tokens)
}

fn part(name: &str, work: &Work, tokens: u64) -> String {
    let (bytes, flops, tokens) = (work.bytes as f64, work.flops as f64, tokens as f64);
    format!(
        "| {name} | {} | {:.2} | {:.1} | {:.3} | {:.3} | {:.3} |\n",
        work.launches,
        bytes / tokens / 1e6,
        flops / tokens / 1e6,
        bytes / REACHED * 1e3,
        bytes / PEAK * 1e3,
        flops / MATRIX * 1e3,
    )
}

/// A row an entry point.
pub fn kernels(kernels: &[(&String, &Kernel)], mixes: &BTreeMap<String, Mix>) -> String {
    let mut text = format!(
        "| entry point | VGPRs | SGPRs | LDS bytes | waves | threads | {} | barriers |\n|---|{}\n",
        KINDS.join(" | "),
        "---|".repeat(KINDS.len() + 6)
    );
    for (name, kernel) in kernels {
        let mix = &mixes[*name];
        let count = |kind: &str| mix.get(kind).copied().unwrap_or(0).to_string();
        let counts: Vec<String> = KINDS.iter().copied().chain(["barriers"]).map(count).collect();
        let figures = ["vgprs", "sgprs", "lds", "waves", "threads"].map(|key| kernel[key].to_string());
        text += &format!("| {name} | {} | {} |\n", figures.join(" | "), counts.join(" | "));
    }
    text
}
