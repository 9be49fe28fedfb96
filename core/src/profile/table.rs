//! A profile for people: kernels by time, and the host's work, phase by phase.

use super::sums::{self, Ran};
use super::{Device, PHASES, Profile, Recorded, Span};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Kernels of a phase that are listed one by one.
const TOP: usize = 12;

impl Profile {
    /// The kernels that took longest on each device and the host's work, by phase: see [`PHASES`], and what was in none.
    pub fn table(&self) -> String {
        let recorded = self.recorded();
        let ran: Vec<Ran> = sums::dispatches(&recorded.launches).into_values().collect();
        let mut text = String::new();
        for (name, device) in &recorded.devices {
            let copy = device.copy.map_or_else(
                || "copies were not measured".to_owned(),
                |copy| format!("a copy moves {:.1} GB/s", copy / 1e9),
            );
            let _ = writeln!(text, "{name} ({}): {copy}", device.words);
        }
        let phases = Phases::of(&recorded.spans);
        for phase in PHASES.map(Some).into_iter().chain([None]) {
            recorded.phase(&ran, &phases, phase, &mut text);
        }
        if recorded.dropped > 0 {
            let _ = writeln!(text, "{} events more were not kept: profile fewer tokens", recorded.dropped);
        }
        text
    }
}

/// When which phase was: beginning, end and name, one behind the other.
struct Phases(Vec<(Duration, Duration, &'static str)>);

impl Phases {
    fn of(spans: &[Span]) -> Self {
        let of_phase = spans.iter().filter(|span| PHASES.contains(&span.name));
        let mut all: Vec<_> = of_phase.map(|s| (s.start, s.start + s.time, s.name)).collect();
        all.sort_unstable();
        Phases(all)
    }

    /// The phase in which something began.
    fn at(&self, start: Duration) -> Option<&'static str> {
        let before = self.0.partition_point(|(begin, ..)| *begin <= start);
        let (_, end, phase) = self.0.get(before.checked_sub(1)?)?;
        (start <= *end).then_some(*phase)
    }
}

impl Recorded {
    /// Spans of a phase, one behind the other.
    fn whole(&self, phase: &str) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |span| span.name == phase)
    }

    fn phase(&self, ran: &[Ran], phases: &Phases, phase: Option<&'static str>, text: &mut String) {
        let mut devices: BTreeMap<&str, Vec<Ran>> = BTreeMap::new();
        for ran in ran.iter().filter(|ran| phases.at(ran.start) == phase) {
            devices.entry(&ran.program.device).or_default().push(ran.clone());
        }
        let name = phase.unwrap_or("besides");
        let whole: Duration = phase.map_or(Duration::ZERO, |phase| self.whole(phase).map(|s| s.time).sum());
        for (device, ran) in devices {
            let sums = sums::by_kernel(&ran);
            let all: Duration = sums.iter().map(|sum| sum.time).sum();
            let _ = writeln!(text, "\n{name} on {device}: {:.3} ms in kernels", ms(all));
            let _ = writeln!(
                text,
                "  {:<44} {:>7} {:>10} {:>9} {:>6} {:>8} {:>8} {:>8}",
                "kernel", "calls", "total ms", "mean us", "share", "GB/s", "of copy", "GFLOP/s"
            );
            let copy = self.devices.get(device).and_then(|device: &Device| device.copy);
            for sum in sums.iter().take(TOP) {
                let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                let of_copy = or_none(sum.rate().zip(copy).map(|(rate, copy)| percent(rate / copy)));
                let giga = |rate: f64| format!("{:.2}", rate / 1e9);
                let _ = writeln!(
                    text,
                    "  {:<44} {:>7} {:>10.3} {:>9.2} {:>6} {:>8} {of_copy:>8} {:>8}{}",
                    sum.kernel,
                    sum.count,
                    ms(sum.time),
                    ms(sum.time) * 1e3 / sum.count.max(1) as f64,
                    percent(sum.time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE)),
                    or_none(sum.rate().map(giga)),
                    or_none(sum.flop_rate().map(giga)),
                    parts(&sum.parts),
                );
            }
            if let Some(rest) = sums.get(TOP..).filter(|rest| !rest.is_empty()) {
                let time: Duration = rest.iter().map(|sum| sum.time).sum();
                let calls: u64 = rest.iter().map(|sum| sum.count).sum();
                let what = format!("{} kernels more", rest.len());
                let _ = writeln!(text, "  {what:<44} {calls:>7} {:>10.3}", ms(time));
            }
        }
        self.host(phases, phase, whole, text);
    }

    /// Spans of the host in a phase, indented by what is around them.
    fn host(&self, phases: &Phases, phase: Option<&'static str>, whole: Duration, text: &mut String) {
        let mut sums: BTreeMap<(usize, &str), (u64, Duration, Duration)> = BTreeMap::new();
        for span in self.spans.iter().filter(|span| phases.at(span.start) == phase) {
            let sum = sums.entry((span.depth, span.name)).or_insert((0, Duration::ZERO, span.start));
            *sum = (sum.0 + 1, sum.1 + span.time, sum.2.min(span.start));
        }
        if sums.is_empty() {
            return;
        }
        let mut rows: Vec<_> = sums.into_iter().collect();
        rows.sort_by_key(|((depth, _), (_, _, first))| (*first, *depth));
        let name = phase.unwrap_or("besides");
        let _ = writeln!(text, "\n{name} on the host; a span contains those that are indented below it");
        let _ = writeln!(
            text,
            "  {:<24} {:>7} {:>10} {:>9} {:>6}",
            "span", "calls", "total ms", "mean us", "share"
        );
        for ((depth, name), (count, time, _)) in rows {
            let share = if whole.is_zero() {
                "-".to_owned()
            } else {
                percent(time.as_secs_f64() / whole.as_secs_f64())
            };
            let _ = writeln!(
                text,
                "  {:<24} {count:>7} {:>10.3} {:>9.2} {share:>6}",
                format!("{:width$}{name}", "", width = 2 * depth),
                ms(time),
                ms(time) * 1e3 / count as f64,
            );
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// The times of a dispatch's launches, where it makes several.
fn parts(parts: &[Duration]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let each: Vec<String> = parts.iter().map(|part| format!("{:.3}", ms(*part))).collect();
    format!("  ({} ms)", each.join(" + "))
}
