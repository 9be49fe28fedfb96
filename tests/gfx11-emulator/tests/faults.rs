//! What must be stopped is stopped, with the right reason; what is right is not.

#![allow(clippy::result_large_err, reason = "a fault ends a launch; it says all it can")]

mod support;

use std::sync::OnceLock;

use gfx11_emulator::fault::{FaultKind, LoadError, Space};
use gfx11_emulator::launch::Launch;
use gfx11_emulator::options::Options;
use support::*;

fn bench() -> Option<Bench> {
    bench_with(Options::default())
}

fn bench_with(options: Options) -> Option<Bench> {
    static OBJECT: OnceLock<Vec<u8>> = OnceLock::new();
    is_ready().then(|| Bench::with(OBJECT.get_or_init(|| compile("faults.hip", &FAST)), options))
}

fn pointers(list: &[u64]) -> Arguments {
    list.iter().fold(Arguments::default(), |arguments, at| arguments.pointer(*at))
}

#[test]
fn accesses_stay_inside_live_allocations() {
    let Some(bench) = bench() else { return };
    let (x, o) = (bench.put(&[1i32; 40]), bench.room(4 * 64));
    let two = Launch::new([2, 1, 1], 32);
    bench.run("copy", two, pointers(&[x, o]).integer(40)).unwrap();
    let FaultKind::OutOfBounds { space: Space::Device, lane: 8, address, .. } =
        bench.fault("copy", two, pointers(&[x, o]).integer(41))
    else {
        panic!("past the end")
    };
    assert_eq!(address, x + 160);
    let host = [0i32; 64];
    let fault = bench.fault("copy", two, pointers(&[host.as_ptr() as u64, o]).integer(40));
    assert!(matches!(fault, FaultKind::OutOfBounds { .. }), "{fault}");
    bench.device.free(x).unwrap();
    let fault = bench.fault("copy", two, pointers(&[x, o]).integer(40));
    assert!(matches!(fault, FaultKind::UseAfterFree { start, size: 160, .. } if start == x), "{fault}");
    assert!(bench.device.free(x).is_err() && bench.device.free(o + 4).is_err());
}

#[test]
fn undefined_memory_may_be_copied_but_not_used() {
    let Some(bench) = bench() else { return };
    let (x, o, last) = (bench.room(128), bench.room(256), bench.room(256));
    let all = |kernel: &str, x: u64, o: u64| bench.run(kernel, one_wave(), pointers(&[x, o]).integer(32));
    all("copy", x, o).unwrap();
    assert!(bench.get::<f32>(o, 32).iter().all(|value| value.is_nan()));
    // The copy is as undefined as what was copied.
    for source in [x, o] {
        let fault = all("add_one", source, last).unwrap_err().kind;
        assert!(matches!(fault, FaultKind::UndefinedStore { space: Space::Device, lane: 0, .. }), "{fault}");
    }
    let fault = bench.fault("gather", one_wave(), pointers(&[x, o, last]));
    assert_eq!(fault, FaultKind::Undefined { used: "an address" });
    let fault = bench.fault("decide", one_wave(), pointers(&[x, o]));
    assert_eq!(fault, FaultKind::Undefined { used: "a branch" });
    // Defined up to lane 20, and not used beyond.
    bench.device.write(x, &[1; 80]).unwrap();
    bench.run("masked_use", one_wave(), pointers(&[x, o]).integer(20)).unwrap();
    let fault = bench.fault("masked_use", one_wave(), pointers(&[x, o]).integer(21));
    assert!(matches!(fault, FaultKind::UndefinedStore { lane: 20, .. }), "{fault}");
    // A copy by the device keeps what is undefined.
    bench.device.copy(last, x, 128).unwrap();
    bench.run("masked_use", one_wave(), pointers(&[last, o]).integer(20)).unwrap();
    assert!(all("add_one", last, o).is_err());
}

#[test]
fn undefined_values_can_be_allowed() {
    let Some(bench) = bench_with(Options { undefined: false, ..Options::default() }) else { return };
    let (x, o) = (bench.room(128), bench.room(128));
    bench.run("add_one", one_wave(), pointers(&[x, o]).integer(32)).unwrap();
    assert_eq!(bench.get::<u32>(o, 32), [0; 32]);
}

#[test]
fn barriers_are_for_all() {
    let Some(bench) = bench() else { return };
    let o = bench.room(256);
    let two = Launch::new([1, 1, 1], 64);
    let fault = bench.fault("early_exit", two, pointers(&[o]));
    assert_eq!(fault, FaultKind::BarrierLeft { ended: 1, waves: 2 });
    let fault = bench.fault("masked_barrier", two, pointers(&[o]).integer(40));
    assert_eq!(fault, FaultKind::BarrierMasked { exec: 0xff });
    bench.run("masked_barrier", two, pointers(&[o]).integer(64)).unwrap();
}

#[test]
fn waves_meet_in_lds_only_across_a_barrier() {
    let Some(bench) = bench() else { return };
    let words: Vec<i32> = (0..64).collect();
    let (x, o) = (bench.put(&words), bench.room(256));
    let two = Launch::new([1, 1, 1], 64);
    bench.run("swap_waves", two, pointers(&[x, o]).integer(1)).unwrap();
    assert_eq!(bench.get::<i32>(o, 64), (0..64).rev().collect::<Vec<i32>>());
    let fault = bench.fault("swap_waves", two, pointers(&[x, o]).integer(0));
    // The first wave reads what the second has not written yet.
    let seen =
        matches!(fault, FaultKind::LdsRace { first: 0, second: 1, .. } | FaultKind::UndefinedStore { .. });
    assert!(seen, "{fault}");
    let fault = bench.fault("same_word", two, pointers(&[o]));
    assert!(matches!(fault, FaultKind::LdsRace { first: 0, second: 1, .. }), "{fault}");
    bench.run("neighbour_bytes", two, pointers(&[x, o])).unwrap();
    bench.run("lds_counter", two, pointers(&[o])).unwrap();
    assert_eq!(bench.get::<i32>(o, 64), [64; 64]);
}

#[test]
fn lds_has_an_end_and_a_beginning() {
    let Some(bench) = bench() else { return };
    let (x, o) = (bench.put(&[5i32; 32]), bench.room(128));
    bench.run("lds_from", one_wave(), pointers(&[x, o]).integer(0)).unwrap();
    let fault = bench.fault("lds_from", one_wave(), pointers(&[x, o]).integer(1));
    assert!(matches!(fault, FaultKind::UndefinedStore { lane: 31, .. }), "{fault}");
    let fault = bench.fault("lds_from", one_wave(), pointers(&[x, o]).integer(40));
    assert!(matches!(fault, FaultKind::OutOfBounds { space: Space::Lds, .. }), "{fault}");
}

#[test]
fn workgroups_do_not_meet_in_memory_without_an_atomic() {
    let Some(bench) = bench() else { return };
    let many = Launch::new([4, 1, 1], 32);
    let x = bench.put(&(0..128).collect::<Vec<i32>>());
    let o = bench.room(1024);
    bench.run("neighbours", many, pointers(&[x, o]).integer(128)).unwrap();
    let fault = bench.fault("neighbours", many, pointers(&[x, o]).integer(32));
    assert!(matches!(fault, FaultKind::GlobalRace { .. }), "{fault}");
    let fault = bench.fault("read_neighbour", many, pointers(&[o]));
    assert!(matches!(fault, FaultKind::GlobalRace { .. }), "{fault}");

    let sum = bench.put(&[0i32]);
    bench.run("sum_atomically", many, pointers(&[x, sum])).unwrap();
    assert_eq!(bench.get::<i32>(sum, 1), [127 * 64]);

    let (partial, arrived) = (bench.room(512), bench.put(&[0u32]));
    bench.run("last_adds", many, pointers(&[x, partial, arrived, o]).integer(4)).unwrap();
    let wanted: Vec<i32> = (0..32).map(|t| (0..4).map(|g| 32 * g + t).sum()).collect();
    assert_eq!(bench.get::<i32>(o, 32), wanted);
}

#[test]
fn races_are_found_in_any_order_of_workgroups() {
    for reverse in [false, true] {
        let options = Options { reverse, threads: 1, undefined: false, ..Options::default() };
        let Some(bench) = bench_with(options) else { return };
        let o = bench.put(&[0i32; 128]);
        let fault = bench.fault("read_neighbour", Launch::new([4, 1, 1], 32), pointers(&[o]));
        assert!(matches!(fault, FaultKind::GlobalRace { .. }), "{fault}");
    }
}

#[test]
fn atomics_do_what_they_say() {
    let Some(bench) = bench() else { return };
    let x: Vec<f32> = (0..32).map(|k| k as f32 * 0.5).collect();
    let (sum, old, swapped) = (bench.put(&[1f32]), bench.put(&[-1i32; 33]), bench.put(&[0u32; 33]));
    bench.run("add_float", one_wave(), pointers(&[bench.put(&x), sum, old, swapped])).unwrap();
    assert_eq!(bench.get::<f32>(sum, 1), [249.0]);
    // Lane after lane: each sees the maximum of those before, and finds the number it waits for.
    assert_eq!(bench.get::<i32>(old, 33), (-1..31).chain([31]).collect::<Vec<i32>>());
    assert_eq!(bench.get::<u32>(swapped, 33)[1..], (0..32).collect::<Vec<u32>>());
    assert_eq!(bench.get::<u32>(swapped, 1), [32]);
    let fault = bench.fault("misaligned_atomic", one_wave(), pointers(&[old]));
    assert!(matches!(fault, FaultKind::Misaligned { alignment: 4, .. }), "{fault}");
}

#[test]
fn scratch_and_tables_of_constants_work() {
    let Some(bench) = bench() else { return };
    let x: Vec<i32> = (0..32).map(|k| k * 3).collect();
    let (o, n) = (bench.room(128), 20);
    bench.run("tables", one_wave(), pointers(&[bench.put(&x), o]).integer(n)).unwrap();
    let wanted = (0..32).map(|t| {
        let mut mine: Vec<i32> = (0..16).map(|i| x[i] * (i as i32 + 1)).collect();
        for i in 0..n {
            mine[(i + t) & 15] += i as i32;
        }
        mine[(x[t] & 15) as usize] + [3, 1, 4, 1, 5, 9, 2, 6][t & 7]
    });
    assert_eq!(bench.get::<i32>(o, 32), wanted.collect::<Vec<i32>>());
}

#[test]
fn limits_of_a_launch_are_kept() {
    let Some(bench) = bench() else { return };
    let o = bench.put(&[0i32; 64]);
    let fault = bench.fault("early_exit", Launch::new([1, 1, 1], 96), pointers(&[o]));
    assert!(matches!(fault, FaultKind::Limit { asked: 96, granted: 64, .. }), "{fault}");
    let large = Launch { dynamic_lds: 65536, ..one_wave() };
    let fault = bench.fault("lds_from", large, pointers(&[o, o]).integer(0));
    assert!(matches!(fault, FaultKind::Limit { granted: 65536, .. }), "{fault}");
    let fault = bench.fault("endless", Launch::new([0, 1, 1], 32), pointers(&[o]));
    assert!(matches!(fault, FaultKind::Limit { .. }), "{fault}");
    let Some(bench) = bench_with(Options { steps: 100_000, memory_bytes: 1000, ..Options::default() }) else {
        return;
    };
    let o = bench.put(&[0i32]);
    let fault = bench.fault("endless", one_wave(), pointers(&[o]));
    assert_eq!(fault, FaultKind::Endless { steps: 100_000 });
    assert!(bench.device.allocate(997).is_err() && bench.device.allocate(996).is_ok());
}

#[test]
fn objects_for_other_chips_and_unknown_instructions_are_refused() {
    if !is_ready() {
        return;
    }
    let text = "#include \"include/pk.h\"\nextern \"C\" __global__ void k(int *o) { o[pk_tid()] = 1; }";
    let other = compile_text(text, "gfx1100", &[]);
    let load = |object: &[u8]| gfx11_emulator::object_file::CodeObject::load(object).map(|_| ());
    assert!(matches!(load(&other), Err(LoadError::OtherChip { .. })));
    assert!(matches!(load(&other[..100]), Err(LoadError::NotAnObject)));
    assert!(matches!(load(b"text"), Err(LoadError::NotAnObject)));
    let text = "#include \"include/pk.h\"\nextern \"C\" __global__ void odd(int *o) { asm volatile(\"s_trap 2\"); o[pk_tid()] = 1; }";
    let bench = Bench::new(&compile_text(text, "gfx1151", &[]));
    let error = bench.module.kernel("odd").err().unwrap().to_string();
    assert!(error.contains("kernel odd, address 0x") && error.contains("s_trap 2"), "{error}");
    assert!(bench.module.kernel("absent").is_err());
}
