//! The same C source for the host and for gfx1151, compared bit for bit over random and over awkward numbers.

#![allow(clippy::unwrap_used, reason = "what fails here is a failed test")]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use gfx11_emulator::launch::Launch;
use support::*;

const COUNT: usize = 1024;
const AWKWARD: [u32; 24] = [
    0,
    1,
    2,
    31,
    32,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x0040_0000,
    0x807f_ffff,
    0x7f7f_ffff,
    0x3c00_7bff,
    0x0001_03ff,
    0x4b00_0001,
];

/// Words that meet each other in all pairs of awkward ones, then random ones of all magnitudes.
fn inputs() -> Vec<u32> {
    let mut random = Random(31);
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    for k in 0..COUNT {
        let awkward = k < AWKWARD.len() * AWKWARD.len();
        let one = |k: usize| AWKWARD[k % AWKWARD.len()];
        let words = if awkward {
            [one(k), one(k / AWKWARD.len()), one(k * 7 + 3)]
        } else {
            let shift = random.word() % 3 * 8;
            [random.word() >> shift, random.word() >> (random.word() % 3 * 8), random.word()]
        };
        for (column, word) in columns.iter_mut().zip(words) {
            column.push(word);
        }
    }
    columns.concat()
}

/// Results of the host by name of the function.
fn host(inputs: &[u32]) -> Vec<(String, Vec<u32>)> {
    let (program, folder) = (fresh("out"), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels"));
    let source = folder.join("twins.cpp");
    let flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-Xclang", "-ffloat16-excess-precision=none"];
    run_tool(Command::new("clang++-19").args(flags).arg(source).arg("-o").arg(&program));
    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let bytes: Vec<u8> = [COUNT as u32].iter().chain(inputs).flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    std::fs::remove_file(program).unwrap();
    let record = |record: &[u8]| {
        let name = String::from_utf8_lossy(&record[..24]).trim().to_owned();
        (name, record[24..].chunks(4).map(u32::of).collect())
    };
    output.stdout.chunks(24 + 4 * COUNT).map(record).collect()
}

/// Whether two results of a function count as equal: NaNs of any kind do, in functions that give floats.
fn is_same(name: &str, found: u32, wanted: u32) -> bool {
    let is_nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    let is_half_nan = |bits: u32| bits & 0x7fff > 0x7c00;
    let same_half = |found: u32, wanted: u32| {
        found & 0xffff == wanted & 0xffff || is_half_nan(found) && is_half_nan(wanted)
    };
    match name.split('_').next() {
        Some("float") => found == wanted || is_nan(found) && is_nan(wanted),
        Some("half") if name == "half_wide" => found == wanted || is_nan(found) && is_nan(wanted),
        Some("half" | "halves") => same_half(found, wanted) && same_half(found >> 16, wanted >> 16),
        // A double's two words are folded into one: all NaNs are made equal before.
        _ => found == wanted,
    }
}

#[test]
fn host_and_device_agree_on_every_bit() {
    if !is_ready() {
        return;
    }
    let inputs = inputs();
    let bench = Bench::new(&compile("twins.hip", &["-ffp-contract=off"]));
    let x = bench.put(&inputs);
    let all = host(&inputs);
    assert!(all.len() > 130, "{} functions", all.len());
    let mut wrong = Vec::new();
    for (name, wanted) in &all {
        let o = bench.room(4 * COUNT);
        let arguments = Arguments::default().pointer(x).pointer(o).integer(COUNT);
        bench.run(name, Launch::new([COUNT as u32 / 32, 1, 1], 32), arguments).unwrap();
        let found = bench.get::<u32>(o, COUNT);
        if let Some(at) = (0..COUNT).find(|at| !is_same(name, found[*at], wanted[*at])) {
            let [a, b, c] = [0, 1, 2].map(|k| inputs[k * COUNT + at]);
            wrong.push(format!("{name}({a:#x}, {b:#x}, {c:#x}) = {:#x}, not {:#x}", found[at], wanted[at]));
        }
    }
    assert!(wrong.is_empty(), "{} functions differ:\n{}", wrong.len(), wrong.join("\n"));
}
