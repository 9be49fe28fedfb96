//! `weft run --profile`: the same text, a trace that holds together, and a table.

use crate::{on_cpu, text};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_profile_changes_no_word_and_its_spans_hold_its_launches() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace.json").display().to_string();
    let plain = on_cpu(&["run", "--temp", "0", "-n", "6", "A bee."]);
    let timed = on_cpu(&["run", "--temp", "0", "-n", "6", "--profile", &out, "A bee."]);
    assert!(timed.status.success(), "{}", text(&timed.stderr));
    assert_eq!(plain.stdout, timed.stdout);
    let notes = text(&timed.stderr);
    for part in [
        "a copy moves",
        "prefill on cpu",
        "decode on cpu",
        "mul_mat/",
        "decode on the host",
        "sample",
        "fused;",
    ] {
        assert!(notes.contains(part), "`{part}` is not in: {notes}");
    }
    let trace: Value = serde_json::from_slice(&std::fs::read(&out).expect("a trace")).expect("JSON");
    assert!(
        trace["otherData"]["devices"]["cpu"]["copy_bytes_per_second"].as_f64().is_some_and(|rate| rate > 0.0)
    );
    let events: Vec<&Value> =
        trace["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "X").collect();
    let span = |event: &Value| {
        let start = event["ts"].as_f64().expect("a time");
        (start, start + event["dur"].as_f64().expect("a time"))
    };
    let named = |name: &str| -> Vec<(f64, f64)> {
        events.iter().filter(|event| event["name"] == name).map(|event| span(event)).collect()
    };
    assert_eq!((named("prefill").len(), named("decode").len(), named("sample").len()), (1, 6, 6), "{notes}");
    // Opening the device and measuring it are left out: every launch ran in some split, with a microsecond for rounding.
    let (submits, mut kernels) = (named("submit"), 0);
    for launch in events.iter().filter(|event| event["cat"] == "kernel") {
        let (start, end) = span(launch);
        assert!(submits.iter().any(|(from, to)| *from <= start + 1.0 && end <= *to + 1.0), "{launch}");
        kernels += 1;
    }
    assert!(kernels > 100, "{kernels}");
}
