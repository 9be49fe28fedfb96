//! Backends under test: the CPU at every level it has, on one and two threads, with outputs filled with NaN first; and
//! every other backend that is found.

use std::sync::{Arc, OnceLock};
use weft_core::backend::{Backend, Offer};
use weft_cpu::simd::{Level, Simd};
use weft_tests::devices;

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
        for level in Level::ALL.into_iter().filter(|level| Simd::at_most(*level).level() == *level) {
            for threads in [1, 2] {
                all.push(Machine {
                    name: format!("cpu {level:?}, {threads} thread(s)"),
                    backend: devices::poisoned(level, threads),
                    family: format!("cpu {level:?}"),
                });
            }
        }
        for backend in devices::found().into_iter().filter(|backend| backend.name() != "cpu") {
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
