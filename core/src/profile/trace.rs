//! A profile as a file in Chrome's trace event format, which Perfetto and chrome://tracing show.

use super::sums::{self, per_second};
use super::{Device, Launch, Profile, Recorded, Span};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;

/// The process under which the host's spans stand; devices follow.
const HOST: usize = 1;

/// One event. Times are microseconds.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: usize,
    tid: usize,
    args: Value,
}

impl Profile {
    /// Writes everything recorded. `about` says what was run: model, options, build.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_trace(&self, out: &mut impl Write, about: Map<String, Value>) -> io::Result<()> {
        let recorded = self.recorded();
        let devices = recorded.numbered();
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
        serde_json::to_writer(&mut *out, &recorded.about(about))?;
        write!(out, ",\"traceEvents\":[")?;
        let mut first = true;
        let mut put = |event: Event<'_>| -> io::Result<()> {
            out.write_all(if std::mem::take(&mut first) { b"\n" } else { b",\n" })?;
            Ok(serde_json::to_writer(&mut *out, &event)?)
        };
        put(named("process_name", "host", HOST, 0))?;
        for (name, number) in &devices {
            let words = recorded.devices.get(*name).map_or("", |device: &Device| &device.words);
            put(named("process_name", &format!("{name} {words}"), *number, 0))?;
        }
        let lanes: BTreeSet<(usize, usize)> = recorded
            .launches
            .iter()
            .map(|launch| (devices[launch.program.device.as_str()], launch.lane))
            .collect();
        for (number, lane) in lanes {
            put(named("thread_name", &format!("launches, lane {lane}"), number, lane + 1))?;
        }
        for span in &recorded.spans {
            put(host(span))?;
        }
        let ran = sums::dispatches(&recorded.launches);
        for launch in &recorded.launches {
            let Some(ran) = ran.get(&sums::key(launch)) else { continue };
            let copy = recorded.devices.get(&launch.program.device).and_then(|device| device.copy);
            put(device(launch, devices[launch.program.device.as_str()], ran.time(), copy))?;
        }
        writeln!(out, "\n]}}")
    }
}

impl Recorded {
    /// A process for each device.
    fn numbered(&self) -> BTreeMap<&str, usize> {
        let names = self.launches.iter().map(|launch| launch.program.device.as_str());
        let names: BTreeSet<&str> = names.chain(self.devices.keys().map(String::as_str)).collect();
        names.into_iter().enumerate().map(|(at, name)| (name, HOST + 1 + at)).collect()
    }

    fn about(&self, mut about: Map<String, Value>) -> Map<String, Value> {
        let programs: BTreeSet<String> =
            self.launches.iter().map(|launch| launch.program.variant()).collect();
        let device = |(name, device): (&String, &Device)| {
            (name.clone(), json!({ "device": device.words, "copy_bytes_per_second": device.copy }))
        };
        about.insert("devices".to_owned(), Value::Object(self.devices.iter().map(device).collect()));
        about.insert("programs".to_owned(), json!(programs));
        about.insert("dropped_events".to_owned(), json!(self.dropped));
        about
    }
}

fn named<'a>(what: &'a str, name: &str, pid: usize, tid: usize) -> Event<'a> {
    Event { name: what, cat: "", ph: "M", ts: None, dur: None, pid, tid, args: json!({ "name": name }) }
}

fn micros(time: Duration) -> Option<f64> {
    Some(time.as_nanos() as f64 / 1e3)
}

fn host(span: &Span) -> Event<'_> {
    let fields = span.fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    Event {
        name: span.name,
        cat: "host",
        ph: "X",
        ts: micros(span.start),
        dur: micros(span.time),
        pid: HOST,
        tid: 1,
        args: Value::Object(fields.collect()),
    }
}

/// A launch, with the cost and rate of its whole dispatch.
fn device(launch: &Launch, pid: usize, whole: Duration, copy: Option<f64>) -> Event<'_> {
    let label = &launch.program.labels[launch.launch];
    let mut args = json!({
        "dispatch": label.dispatch,
        "node": label.node,
        "rule": label.rule,
        "program": launch.program.variant(),
    });
    if label.at_most {
        args["bytes at most"] = json!(label.bytes);
    } else {
        let rate = per_second(label.bytes, whole);
        args["bytes"] = json!(label.bytes);
        args["flops"] = json!(label.flops);
        args["GB/s"] = json!(rate / 1e9);
        if let Some(copy) = copy {
            args["% of copy"] = json!(rate / copy * 100.0);
        }
    }
    if let Some(part) = label.part {
        args["launch of the dispatch"] = json!(part);
    }
    Event {
        name: &label.kernel,
        cat: "kernel",
        ph: "X",
        ts: micros(launch.start),
        dur: micros(launch.time),
        pid,
        tid: launch.lane + 1,
        args,
    }
}
