//! Devices under test, and which of them must be there.

use std::sync::{Arc, Once};
use weft_core::backend::Backend;
use weft_cpu::simd::Level;
use weft_cpu::{Cpu, Options};

/// Every backend that tests know.
const KNOWN: &[&str] = &["cpu", "wgpu", "hip"];

/// The backends that must be there: `WEFT_REQUIRE=cpu,wgpu,hip`.
pub fn required() -> Vec<String> {
    let text = std::env::var("WEFT_REQUIRE").unwrap_or_default();
    let names: Vec<String> = text.split(',').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).collect();
    if let Some(unknown) = names.iter().find(|n| !KNOWN.contains(&n.as_str())) {
        panic!("WEFT_REQUIRE names `{unknown}`; known are {KNOWN:?}");
    }
    names
}

/// Opens what is found. A required backend that is missing fails the test; others are named once as left out.
pub fn found() -> Vec<Arc<dyn Backend>> {
    static TOLD: Once = Once::new();
    let mut all: Vec<Arc<dyn Backend>> = Vec::new();
    let mut missing = Vec::new();
    for name in KNOWN {
        match open(name) {
            Ok(backend) => all.push(backend),
            Err(reason) if required().iter().any(|r| r == name) => {
                panic!("backend `{name}` is required: {reason}")
            }
            Err(reason) => missing.push(format!("`{name}`: {reason}")),
        }
    }
    TOLD.call_once(|| missing.iter().for_each(|m| eprintln!("left out: backend {m}")));
    all
}

fn open(name: &str) -> Result<Arc<dyn Backend>, String> {
    match name {
        "cpu" => {
            Cpu::open(&Options::default()).map(|c| Arc::new(c) as Arc<dyn Backend>).map_err(|e| e.to_string())
        }
        _ => Err("not part of this build".to_owned()),
    }
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
