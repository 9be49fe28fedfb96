//! Nanoseconds a wave-instruction, by kind of kernel. `cargo bench -p gfx11-emulator`
//!
//! The kernels are those of the tests. Each is launched with all checks and with none, on one thread and on all.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use gfx11_emulator::launch::Launch;
use gfx11_emulator::options::Options;
use support::*;

const REPEATS: u32 = 5;

fn main() {
    if !is_ready() {
        return;
    }
    let object = compile("speed.hip", &FAST);
    let all = Options::default();
    let none = Options { undefined: false, lds_races: false, global_races: false, ..all };
    println!(
        "{:14} {:>12} {:>10} {:>10} {:>12}",
        "kernel", "instructions", "checked", "unchecked", "all threads"
    );
    for kernel in [
        "arithmetic",
        "halves",
        "integers",
        "transcendent",
        "reduce",
        "stream",
        "gather",
        "through_lds",
        "matrices",
    ] {
        let each = |options: Options| measure(&object, kernel, options);
        let ((count, checked), (_, unchecked)) =
            (each(Options { threads: 1, ..all }), each(Options { threads: 1, ..none }));
        let (_, threads) = each(all);
        println!("{kernel:14} {count:12} {checked:7.1} ns {unchecked:7.1} ns {threads:9.1} ns");
    }
}

/// Wave-instructions of a launch, and the shortest time for one of them.
fn measure(object: &[u8], kernel: &str, options: Options) -> (u64, f64) {
    let bench = Bench::with(object, options);
    let floats: Vec<f32> = Random(1).floats(1 << 18);
    let (x, o) = (bench.put(&floats), bench.put(&vec![0f32; 1 << 18]));
    let arguments = Arguments::default().pointer(x).pointer(o).integer(64);
    let mut least = f64::INFINITY;
    let mut count = 0;
    for _ in 0..REPEATS {
        let start = Instant::now();
        let ran = bench.run(kernel, Launch::new([32, 1, 1], 256), arguments.clone());
        count = ran.map_or(0, |ran| ran.wave_instructions);
        least = least.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    (count, least)
}
