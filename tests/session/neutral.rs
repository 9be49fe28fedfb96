//! Every observer beside none, on every device: the same plans, launches in the same order, as many submissions and reads, and
//! the same bits. A profile is a program of its own: it may submit more, and computes the same.

use crate::{ids, small};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use weft::session::{Counters, Session, SessionOptions};
use weft_core::backend::Backend;
use weft_core::plan::Plan;
use weft_core::profile::Profile;
use weft_tests::faulty::Faulty;
use weft_tests::{devices, hip};

/// A device, and what was asked of it so far besides launches: submissions, and reads that waited for it.
struct Observed {
    backend: Arc<dyn Backend>,
    asked: Box<dyn Fn() -> [u64; 2]>,
}

/// The CPU, every adapter, and the stand-in that runs kernels as the host's code, opened anew.
fn opened(profile: Option<&Arc<Profile>>) -> Vec<Observed> {
    let mut all = Vec::new();
    if devices::admits("cpu") {
        let options = weft_cpu::Options { profile: profile.cloned(), ..weft_cpu::Options::default() };
        let cpu = Faulty::around(devices::cpu(&options));
        let submitted = cpu.submitted();
        // Its memory is the host's own: nothing waits for a read.
        all.push(Observed { backend: cpu.shared(), asked: Box::new(move || [submitted(), 0]) });
    }
    let options = weft_wgpu::Options { profile: profile.cloned(), ..devices::options() };
    for gpu in devices::gpus(&options).into_iter().filter(|gpu| devices::admits(gpu.name())) {
        let backend = Arc::clone(&gpu) as Arc<dyn Backend>;
        // A read that does not come with a submission is one of its own.
        let asked = Box::new(move || [gpu.counters().submits, 0]);
        all.push(Observed { backend, asked });
    }
    let options = hip::all_options(|options| options.profile = profile.cloned());
    for gpu in hip::open(options.into_iter().filter(|options| options.name != "hip:emulator").collect()) {
        let outer = Faulty::around(Arc::clone(&gpu) as Arc<dyn Backend>);
        let submitted = outer.submitted();
        let asked = Box::new(move || [submitted(), gpu.counters().reads]);
        all.push(Observed { backend: outer.shared(), asked });
    }
    all
}

/// What can be noticed of a prompt and some steps.
#[derive(Debug, PartialEq)]
struct Seen {
    hashes: Vec<u64>,
    launches: Vec<Vec<String>>,
    asked: [u64; 2],
    counters: Counters,
    bits: Vec<u32>,
}

fn launches(plan: &Plan) -> Vec<String> {
    let told =
        |d: &weft_core::plan::Dispatch| format!("{}/{} {} {:?}", d.kernel, d.variant, d.phase, d.nodes);
    plan.dispatches.iter().map(told).collect()
}

fn session(device: &Observed, options: &SessionOptions) -> Session {
    Session::new(&small(Arc::clone(&device.backend)), SessionOptions { context: 64, ..options.clone() })
        .unwrap()
}

fn seen(device: &Observed, options: &SessionOptions) -> Seen {
    let mut session = session(device, options);
    // Compiled and loaded before anything is counted.
    let plans = [1, 12].map(|tokens| session.plan(tokens).unwrap());
    let before = (device.asked)();
    let mut bits: Vec<u32> = session.prefill(&ids(12)).unwrap().iter().map(|v| v.to_bits()).collect();
    for id in ids(3) {
        bits.extend(session.decode(id).unwrap().iter().map(|v| v.to_bits()));
    }
    let after = (device.asked)();
    Seen {
        hashes: plans.iter().map(|plan| plan.hash).collect(),
        launches: plans.iter().map(|plan| launches(plan)).collect(),
        asked: [after[0] - before[0], after[1] - before[1]],
        counters: *session.counters(),
        bits,
    }
}

/// Lines that a listener wrote.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn observers_change_no_plan_no_order_no_submission_and_no_bit() {
    let profile = Arc::new(Profile::default());
    let plain = opened(None);
    for (device, timed) in plain.iter().zip(opened(Some(&profile))) {
        let name = device.backend.name();
        let base = SessionOptions::default();
        let quiet = seen(device, &base);
        assert!(quiet.asked[0] >= 4, "{name}: {:?}", quiet.asked);

        // Spans, logs and the log of dispatches.
        let lines = Lines::default();
        let writer = lines.clone();
        let listener = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
            .with_writer(move || writer.clone())
            .finish();
        let heard = tracing::subscriber::with_default(listener, || seen(device, &base));
        assert!(quiet == heard, "{name}, listening: {:?} and {:?}", quiet.asked, heard.asked);
        let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let logged = log.lines().filter(|line| line.contains(" dispatch ")).count();
        assert_eq!(logged, quiet.launches.iter().map(Vec::len).sum::<usize>(), "{name}");
        for span in ["prefill", "decode", "plan", "compile", "upload", "submit", "wait"] {
            assert!(
                log.contains(&format!("{span}{{")) || log.contains(&format!("{span}:")),
                "{name}: no {span}"
            );
        }

        // Looking for values that are not finite.
        let checked = seen(device, &SessionOptions { check_finite: 1, ..base.clone() });
        assert!(quiet == checked, "{name}, checking: {:?} and {:?}", quiet.asked, checked.asked);

        // Keeping every value, to be read afterwards.
        let kept = seen(device, &SessionOptions { keep_values: true, ..base.clone() });
        assert_eq!(
            (&quiet.launches, quiet.asked, &quiet.counters, &quiet.bits),
            (&kept.launches, kept.asked, &kept.counters, &kept.bits),
            "{name}, keeping values"
        );

        // Times of launches: a program of its own.
        profile.take();
        let clocked = seen(&timed, &base);
        assert_eq!(
            (&quiet.hashes, &quiet.launches, &quiet.counters, &quiet.bits),
            (&clocked.hashes, &clocked.launches, &clocked.counters, &clocked.bits),
            "{name}, timed"
        );
        is_whole(&profile, &quiet, name);
    }
}

/// A prompt and three steps: each dispatch was timed once a run, and the file says so.
fn is_whole(profile: &Profile, quiet: &Seen, name: &str) {
    let wanted = 3 * quiet.launches[0].len() + quiet.launches[1].len();
    let mut file = Vec::new();
    profile.write_trace(&mut file, serde_json::Map::new()).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let programs = file["otherData"]["programs"].as_array().unwrap();
    for hash in &quiet.hashes {
        assert!(programs.contains(&Value::from(format!("{hash:016x}+timed"))), "{name}: {programs:?}");
    }
    let events = file["traceEvents"].as_array().unwrap();
    let mut timed = std::collections::BTreeSet::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        assert!(event["ts"].as_f64().is_some_and(|at| at >= 0.0), "{event}");
        assert!(event["dur"].as_f64().is_some_and(|time| time >= 0.0), "{event}");
        assert!(event["args"]["bytes"].is_u64() || event["args"]["bytes at most"].is_u64(), "{event}");
        timed.insert((event["args"]["program"].to_string(), event["args"]["dispatch"].to_string()));
    }
    assert_eq!(timed.len(), quiet.launches.iter().map(Vec::len).sum::<usize>(), "{name}");
    let told = profile.table();
    assert!(told.contains("besides on ") && told.contains("mul_mat"), "{told}");
    let timings = profile.take();
    assert_eq!(timings.iter().map(|timing| timing.count).sum::<u64>(), wanted as u64, "{name}");
    assert!(timings.iter().all(|timing| timing.bytes > 0), "{timings:?}");
    assert!(profile.take().is_empty());
}

#[test]
fn a_dump_reads_what_was_computed_and_the_session_goes_on_as_if_it_had_not() {
    for device in opened(None) {
        let options = SessionOptions { keep_values: true, ..SessionOptions::default() };
        let run = |dumped: bool| {
            let mut session = session(&device, &options);
            session.prefill(&ids(12)).unwrap();
            if dumped {
                let mut inspection = session.inspect(&[7]).unwrap();
                let plan = inspection.plan();
                let logits = plan.graph.output("logits").unwrap();
                assert!(!inspection.tensor(0, logits).unwrap().is_empty());
            } else {
                session.decode(7).unwrap();
            }
            let bits: Vec<u32> = session.decode(8).unwrap().iter().map(|v| v.to_bits()).collect();
            bits
        };
        assert!(run(false) == run(true), "{}", device.backend.name());
    }
}
