//! `docs/coverage.md`: how much of each architecture each backend takes, and in which fused groups. `WEFT_UPDATE_DOCS=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use weft::models::{Batch, Description};
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::plan::Census;
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::plan_for;
use weft_tests::{devices, hip};

/// A model of true size of each architecture.
const MODELS: [(&str, &str); 8] = [
    ("qwen35", "4b"),
    ("qwen35moe", "35b-a3b"),
    ("qwen3next", "80b-a3b"),
    ("qwen4exp", "125b-a6b"),
    ("qwen3", "4b"),
    ("qwen3moe", "30b-a3b"),
    ("qwen2", "7b"),
    ("llama", "8b"),
];
const TOKENS: [u64; 2] = [1, 512];
const CELLS: u64 = 32_768;

const HEAD: &str = "# What each backend takes of each architecture

Plans of models of true size with Q4_K_M weights and a context of 32,768 tokens, for a decode step and for a prompt's ubatch of 512.
Every node is a view, or one launch on the backend covers it: none is left over or goes to another device, so a plan is one
split. wgpu is planned for llvmpipe, HIP for gfx1151. `weft plan FILE` shows the same of a file on a device, and `--explain` why.

<!-- The rest is written by `WEFT_UPDATE_DOCS=1 cargo test -p weft-tests --test plans coverage`. -->
";

/// The backends of the page, if all of them are here.
fn backends() -> Option<Vec<(&'static str, Arc<dyn Backend>)>> {
    let found = devices::found();
    let named = |prefix: &str| found.iter().find(|device| device.name().starts_with(prefix)).map(Arc::clone);
    let emulator = hip::stand_ins().iter().find(|device| device.name() == "hip:emulator");
    Some(vec![
        ("CPU", named("cpu")?),
        ("wgpu", named("wgpu:llvmpipe")?),
        ("HIP", Arc::clone(emulator?) as Arc<dyn Backend>),
    ])
}

fn census(model: &Description, device: &Arc<dyn Backend>, tokens: u64) -> Census {
    let graph = graph(model, &Batch { cells: CELLS, ..ubatch(tokens) });
    plan_for(&graph, std::slice::from_ref(device), &Options::default()).expect("a plan").census()
}

/// The number if it is the same everywhere, else each.
fn counts(backends: &[(&str, Arc<dyn Backend>)], of: &[usize]) -> String {
    if of.iter().all(|count| *count == of[0]) {
        return of[0].to_string();
    }
    let each: Vec<String> =
        backends.iter().zip(of).map(|((name, _), count)| format!("{name} {count}")).collect();
    each.join(", ")
}

fn section(arch: &str, size: &str, backends: &[(&str, Arc<dyn Backend>)]) -> String {
    let model = described(arch, size);
    let mut text = format!("\n## `{arch}`, {size}\n\n");
    text += "| backend | tokens | nodes | views | uncovered | splits | launches | nodes in fused groups |\n";
    text += "|---|---|---|---|---|---|---|---|\n";
    let mut steps = Vec::new();
    for (name, device) in backends {
        for tokens in TOKENS {
            let census = census(&model, device, tokens);
            let Census { nodes, aliases, off_device, splits, dispatches, fused, .. } = &census;
            assert_eq!((*off_device, *splits), (0, 1), "{arch} on {name}, {tokens} tokens");
            let _ = writeln!(
                text,
                "| {name} | {tokens} | {nodes} | {aliases} | {off_device} | {splits} | {dispatches} | {fused} |"
            );
            if tokens == 1 {
                steps.push(census);
            }
        }
    }
    let rules: BTreeSet<&str> = steps
        .iter()
        .flat_map(|census| census.rules.keys().copied())
        .filter(|rule| *rule != "single")
        .collect();
    let groups: Vec<String> = rules
        .into_iter()
        .map(|rule| {
            let of: Vec<usize> =
                steps.iter().map(|census| census.rules.get(rule).copied().unwrap_or(0)).collect();
            format!("`{rule}` {}", counts(backends, &of))
        })
        .collect();
    let _ = writeln!(text, "\nFused groups of a decode step: {}.", groups.join("; "));
    text
}

#[test]
fn every_backend_takes_every_architecture_as_the_page_says() {
    let Some(backends) = backends() else {
        eprintln!("left out: the page needs the CPU, llvmpipe and the gfx11 emulator");
        return;
    };
    let mut want = HEAD.to_owned();
    MODELS.into_iter().for_each(|(arch, size)| want += &section(arch, size, &backends));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/coverage.md");
    if std::env::var_os("WEFT_UPDATE_DOCS").is_some() {
        fs::write(&path, &want).expect("the page is written");
    }
    let present = fs::read_to_string(&path).expect("docs/coverage.md");
    assert!(present == want, "docs/coverage.md is out of date; WEFT_UPDATE_DOCS=1 writes it");
}
