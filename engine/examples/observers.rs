//! What observers cost a decoded token of the model in the repository, on one thread of the CPU: each while nobody uses it, and
//! while somebody does.
//!
//! `cargo run --release -p weft --example observers`

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use weft::session::{Session, SessionOptions};
use weft::{Error, Model};
use weft_core::plan::Tally;
use weft_core::profile::Profile;

const FILE: &str = "models/weft-tales-12m.Q8_0.gguf";
/// Steps of a turn, and turns of each way of running.
const STEPS: u32 = 64;
const TURNS: usize = 25;

/// A way of running.
struct Way {
    name: &'static str,
    session: Session,
    listens: bool,
    profile: Option<Arc<Profile>>,
    turns: Vec<Duration>,
}

impl Way {
    fn new(
        name: &'static str,
        options: SessionOptions,
        profile: Option<Arc<Profile>>,
        idle: bool,
    ) -> Result<Self, Error> {
        let cpu = weft_cpu::Options { threads: 1, idle, profile: profile.clone(), ..Default::default() };
        let model = Model::open(FILE, vec![Arc::new(weft_cpu::Cpu::open(&cpu)?)])?;
        let session = Session::new(&model, SessionOptions { context: 512, ..options })?;
        Ok(Way { name, session, listens: false, profile, turns: Vec::new() })
    }

    /// Seconds of one step in this turn are kept.
    fn turn(&mut self, listener: &tracing::Dispatch) -> Result<(), Error> {
        let run = |session: &mut Session| -> Result<Duration, Error> {
            session.reset();
            session.prefill(&[1, 2, 3, 4])?;
            let started = Instant::now();
            for _ in 0..STEPS {
                black_box(session.decode(5)?);
            }
            Ok(started.elapsed() / STEPS)
        };
        let time = match self.listens {
            true => tracing::dispatcher::with_default(listener, || run(&mut self.session)),
            false => run(&mut self.session),
        };
        self.turns.push(time?);
        self.profile.iter().for_each(|profile| drop(profile.take()));
        Ok(())
    }

    fn median(&mut self) -> f64 {
        self.turns.sort();
        self.turns[self.turns.len() / 2].as_secs_f64()
    }
}

/// Listens to everything and keeps nothing but the number of spans and events.
struct Counts(Arc<AtomicU64>);

impl Subscriber for Counts {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.0.fetch_add(1, Ordering::Relaxed);
        Id::from_u64(1)
    }

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Seconds of one call, the best of some rounds of many.
fn each(mut work: impl FnMut()) -> f64 {
    const CALLS: u32 = 2_000_000;
    let round = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        (0..CALLS).for_each(|_| work());
        started.elapsed().as_secs_f64() / f64::from(CALLS)
    };
    (0..5).map(|_| round(&mut work)).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Error> {
    // Before anybody has listened: from then on a level is looked up that is not "nothing".
    let span = each(|| drop(black_box(tracing::trace_span!("span", value = black_box(1u64)).entered())));
    let event = each(|| tracing::trace!(value = black_box(1u64), "event"));
    let none: Option<Arc<Profile>> = None;
    let branch = each(|| {
        black_box(black_box(&none).as_ref().map(|profile| profile.now()));
    });
    let (mut sum, one) = (Tally::default(), Tally { dispatches: 1, ..Tally::default() });
    let count = each(|| black_box(&mut sum).add(black_box(&one)));

    let (plain, profile) = (SessionOptions::default(), Arc::new(Profile::default()));
    let mut ways = [
        Way::new("nobody watches", plain.clone(), None, false)?,
        Way::new("no kernel runs: the host's whole step", plain.clone(), None, true)?,
        Way::new("somebody listens to everything", plain.clone(), None, false)?,
        Way::new("--check finite", SessionOptions { check_finite: 1, ..plain.clone() }, None, false)?,
        Way::new("values are kept", SessionOptions { keep_values: true, ..plain.clone() }, None, false)?,
        Way::new("--profile", plain, Some(profile), false)?,
    ];
    ways[2].listens = true;
    let heard = Arc::new(AtomicU64::new(0));
    let listener = tracing::Dispatch::new(Counts(Arc::clone(&heard)));
    for turn in 0..=TURNS {
        if turn == 1 {
            // The first turn plans, and touches the weights for the first time.
            ways.iter_mut().for_each(|way| way.turns.clear());
            heard.store(0, Ordering::Relaxed);
        }
        ways.iter_mut().try_for_each(|way| way.turn(&listener))?;
    }
    // The prompt of each turn is counted with its steps.
    let told = heard.load(Ordering::Relaxed) as f64 / (TURNS as f64 * f64::from(STEPS));
    let launches = ways[0].session.plan(1)?.dispatches.len() as f64;
    let step = ways[0].median();
    println!("a step of {:.1} us, {launches} launches, {told:.1} spans and events", step * 1e6);
    let share = |name: &str, calls: f64, each: f64| {
        let (nanos, share) = (calls * each * 1e9, calls * each / step * 100.0);
        println!("  {name:<44} {calls:>6.1} x {:>6.2} ns = {nanos:>7.1} ns, {share:.4} %", each * 1e9);
    };
    println!("while nobody uses them:");
    share("spans and logs: a level that is looked at", told, span.max(event));
    // Twice a launch and worker, more where a launch has several stages; four times is beyond all of them.
    share("profile: a pointer that is looked at", 4.0 * launches, branch);
    share("checks: two numbers that are compared", 2.0, branch);
    share("counters, always on: seven sums", 1.0, count);
    println!("one way of running after the other, {TURNS} turns of {STEPS} steps, medians:");
    for way in &mut ways {
        let time = way.median();
        println!("  {:<44} {:>8.2} us, {:>6.2} % of a step", way.name, time * 1e6, time / step * 100.0);
    }
    Ok(())
}
