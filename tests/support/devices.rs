//! Devices under test, and which of them must be there.

use crate::hip;
use std::sync::{Arc, Once, OnceLock};
use weft_core::backend::Backend;
use weft_cpu::simd::Level;
use weft_cpu::{Cpu, Options};

/// Every backend that tests know.
const KNOWN: &[&str] = &["cpu", "wgpu", "hip"];

/// The names that a variable lists; none where it is not set.
fn listed(variable: &str) -> Vec<String> {
    let text = std::env::var(variable).unwrap_or_default();
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The backends that must be there: `WEFT_REQUIRE=cpu,wgpu,hip`; `wgpu:NAME` asks for an adapter by part of its name.
pub fn required() -> Vec<String> {
    let names = listed("WEFT_REQUIRE");
    let known = |name: &str| KNOWN.contains(&name.split(':').next().unwrap_or(name));
    if let Some(unknown) = names.iter().find(|n| !known(n)) {
        panic!("WEFT_REQUIRE names `{unknown}`; known are {KNOWN:?}");
    }
    names
}

/// The backends to which `WEFT_ONLY` limits a run, written as in `WEFT_REQUIRE`.
fn only() -> Option<&'static [String]> {
    static ONLY: OnceLock<Option<Vec<String>>> = OnceLock::new();
    ONLY.get_or_init(|| {
        let text = std::env::var("WEFT_ONLY").ok()?;
        Some(text.split(',').map(|name| name.trim().to_owned()).collect())
    })
    .as_deref()
}

/// Whether a device of this name may take part.
pub fn admits(device: &str) -> bool {
    only().is_none_or(|names| names.iter().any(|name| named(device, name)))
}

/// Whether any device of a kind may take part.
fn wanted(kind: &str) -> bool {
    only().is_none_or(|names| names.iter().any(|name| named(name, kind)))
}

/// Whether a device has this name, or belongs to the kind of this name.
fn named(device: &str, name: &str) -> bool {
    device == name || device.starts_with(&format!("{name}:"))
}

/// Opens what is found. A required backend that is missing fails the test; others are named once as left out. Stand-ins
/// for a HIP runtime are too slow for most tests: they count as being there, and have tests of their own.
pub fn found() -> Vec<Arc<dyn Backend>> {
    static TOLD: Once = Once::new();
    let mut all: Vec<Arc<dyn Backend>> = Vec::new();
    if wanted("cpu") {
        all.push(cpu(&Options::default()));
    }
    if wanted("wgpu") {
        all.extend(all_gpus().iter().map(|gpu| Arc::clone(gpu) as Arc<dyn Backend>));
    }
    if wanted("hip") {
        all.extend(hip::real().iter().map(|gpu| Arc::clone(gpu) as Arc<dyn Backend>));
    }
    all.retain(|backend| admits(backend.name()));
    let counted = required().iter().any(|name| named(name, "hip"));
    let stand_ins = if counted { hip::stand_ins() } else { &[] };
    let there: Vec<&str> = all.iter().map(|b| b.name()).chain(stand_ins.iter().map(|b| b.name())).collect();
    if let Some(name) = required().iter().find(|name| !there.iter().any(|device| named(device, name))) {
        panic!("backend `{name}` is required; there are {there:?}");
    }
    TOLD.call_once(|| {
        let missing = KNOWN
            .iter()
            .filter(|name| wanted(name))
            .filter(|name| !there.iter().any(|device| named(device, name)));
        missing.for_each(|name| eprintln!("left out: backend `{name}` is not on this machine"));
    });
    all
}

/// What is found, without adapters that take ten times as long as another one over the same shaders, where that other is
/// there. The long tests (`WEFT_FIXTURES` is set) and runs that ask for one by `WEFT_ONLY` leave none out.
pub fn quick() -> Vec<Arc<dyn Backend>> {
    const SLOW: (&str, &str) = ("wgpu:swiftshader", "wgpu:llvmpipe");
    static TOLD: Once = Once::new();
    let mut all = found();
    let long = std::env::var_os("WEFT_FIXTURES").is_some();
    if !long && all.iter().any(|backend| backend.name() == SLOW.1) {
        let before = all.len();
        all.retain(|backend| backend.name() != SLOW.0);
        if all.len() < before {
            TOLD.call_once(|| eprintln!("left to the long tests: some of what would run on `{}`", SLOW.0));
        }
    }
    all
}

/// What `WEFT_WITHOUT` can take from adapters.
const FEATURES: [&str; 3] = ["subgroups", "half", "matrices"];

/// Options of tests: bounds checks, memory filled with NaN, shaders written to `WEFT_SHADER_DUMP` if it is set, and adapters
/// without the features that `WEFT_WITHOUT` lists.
pub fn options() -> weft_wgpu::Options {
    let dump = std::env::var_os("WEFT_SHADER_DUMP").map(std::path::PathBuf::from);
    let without = listed("WEFT_WITHOUT");
    if let Some(unknown) = without.iter().find(|name| !FEATURES.contains(&name.as_str())) {
        panic!("WEFT_WITHOUT names `{unknown}`; known are {FEATURES:?}");
    }
    let [subgroups, half, matrices] = FEATURES.map(|name| !without.iter().any(|known| known == name));
    let bounds = weft_wgpu::Bounds { subgroups, half, matrices, ..weft_wgpu::Bounds::default() };
    weft_wgpu::Options { checked: true, poison: true, dump, bounds, ..weft_wgpu::Options::default() }
}

/// Every adapter of this machine with the options of tests, opened once.
pub fn all_gpus() -> &'static [Arc<weft_wgpu::Wgpu>] {
    static ALL: OnceLock<Vec<Arc<weft_wgpu::Wgpu>>> = OnceLock::new();
    ALL.get_or_init(|| gpus(&options()))
}

/// Every adapter of this machine as a device of its own, named `wgpu:` and the first word of its name.
pub fn gpus(options: &weft_wgpu::Options) -> Vec<Arc<weft_wgpu::Wgpu>> {
    let word = |name: &str| name.split([' ', '(']).next().unwrap_or_default().to_lowercase();
    let adapters = weft_wgpu::adapters();
    let open = |found: &weft_wgpu::Found| {
        let (name, adapter) = (format!("wgpu:{}", word(&found.name)), Some(found.index.to_string()));
        let options = weft_wgpu::Options { name, adapter, ..options.clone() };
        Arc::new(weft_wgpu::Wgpu::open(&options).unwrap_or_else(|error| panic!("{}: {error}", found.name)))
    };
    adapters.iter().map(open).collect()
}

/// The CPU with these options.
pub fn cpu(options: &Options) -> Arc<dyn Backend> {
    Arc::new(Cpu::open(options).expect("the CPU opens"))
}

/// The CPU with its reference kernels only.
pub fn reference() -> Arc<dyn Backend> {
    cpu(&Options { references_only: true, threads: 1, ..Options::default() })
}

/// The tuned CPU with the references of the kernels that it leaves to other backends.
pub fn complete() -> Arc<dyn Backend> {
    cpu(&Options { absent: true, ..Options::default() })
}

/// The complete CPU, outputs filled with NaN first, at a level and with this many threads.
pub fn poisoned(level: Level, threads: usize) -> Arc<dyn Backend> {
    cpu(&Options { level, threads, absent: true, poison: true, ..Options::default() })
}
