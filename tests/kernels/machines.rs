//! Backends under test: the CPU at every level it has, on one and two threads, with outputs filled with NaN first; and
//! every other backend that is found.

use std::sync::{Arc, OnceLock};
use weft_core::backend::{Backend, Offer};
use weft_cpu::simd::{Level, Simd};
use weft_tests::{devices, hip};

/// A backend with a name for reports.
pub struct Machine {
    pub name: String,
    pub backend: Arc<dyn Backend>,
    /// Machines of one family compute bit for bit the same.
    pub family: String,
}

/// All machines; opened once.
pub fn all() -> &'static [Machine] {
    static ALL: OnceLock<Vec<Machine>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        let levels = Level::ALL.into_iter().filter(|level| Simd::at_most(*level).level() == *level);
        for level in levels.filter(|_| devices::admits("cpu")) {
            for threads in [1, 2] {
                all.push(Machine {
                    name: format!("cpu {level:?}, {threads} thread(s)"),
                    backend: devices::poisoned(level, threads),
                    family: format!("cpu {level:?}"),
                });
            }
        }
        let stand_ins = hip::stand_ins().iter().map(|gpu| Arc::clone(gpu) as Arc<dyn Backend>);
        let gpus = devices::found().into_iter().filter(|backend| backend.name() != "cpu");
        for backend in gpus.chain(stand_ins) {
            let name = backend.name().to_owned();
            all.push(Machine { family: name.clone(), name, backend });
        }
        all
    })
}

/// One machine of each backend: the levels of the CPU offer the same.
pub fn backends() -> impl Iterator<Item = &'static Machine> {
    let all = all();
    all.iter()
        .enumerate()
        .filter(|(at, m)| all[..*at].iter().all(|n| n.backend.name() != m.backend.name()))
        .map(|(_, m)| m)
}

/// The machines on which a backend's variant is run. A reference ignores levels: one thread and several are enough.
pub fn running(backend: &str, offer: &Offer) -> Vec<&'static Machine> {
    let mut machines: Vec<&Machine> = all().iter().filter(|m| m.backend.name() == backend).collect();
    if offer.variant == "reference" {
        machines.truncate(2);
    }
    machines
}

/// How much of a contract is drawn: cases of a variant, and elements of an operand at most, until all that a contract allows
/// was seen and after that.
pub struct Effort {
    pub cases: usize,
    pub elements: u64,
    pub later: u64,
}

/// The effort for a backend. Stand-ins for a GPU interpret each instruction or switch fibers for each lane; of the two software
/// adapters, which take the same shaders, one is some five times as slow. `WEFT_CASES` asks for that many cases of a backend in
/// all: then its variants share them, and operands are small once a contract has been seen whole.
pub fn effort(backend: &str) -> Effort {
    let (cases, elements) = match backend {
        "hip:emulator" => (40, 1 << 12),
        "hip:fibers" | "wgpu:swiftshader" => (60, 1 << 13),
        _ => (200, 1 << 16),
    };
    let Ok(text) = std::env::var("WEFT_CASES") else { return Effort { cases, elements, later: elements } };
    let asked: usize = text.parse().expect("WEFT_CASES is a number");
    let offers = backends().find(|machine| machine.backend.name() == backend);
    let variants = offers.map_or(1, |machine| machine.backend.offers().len()).max(1);
    Effort { cases: asked.div_ceil(variants), elements, later: elements.min(1 << 12) }
}
