//! Launches, spread over CPU threads.

use crate::block::{Block, Entry, Worker};
use crate::fault;
use crate::module::Library;
use hip_stand_in::{Kernel, Launch};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// An entry point.
pub(crate) struct Function {
    name: String,
    entry: Entry,
    /// The one argument: a structure.
    argument: Range<usize>,
    most_threads: usize,
    library: Arc<Library>,
}

impl Function {
    pub(crate) fn new(
        name: &str,
        entry: Entry,
        bytes: usize,
        most_threads: usize,
        library: Arc<Library>,
    ) -> Self {
        Function { name: name.to_owned(), entry, argument: 0..bytes, most_threads, library }
    }
}

impl Kernel for Function {
    fn arguments(&self) -> &[Range<usize>] {
        std::slice::from_ref(&self.argument)
    }

    fn argument_bytes(&self) -> usize {
        self.argument.end
    }

    fn launch(&self, launch: Launch, arguments: &[u8]) -> Result<(), String> {
        let threads = launch.threads as usize;
        if !threads.is_multiple_of(32) || threads > self.most_threads {
            return Err(format!("{}: {threads} threads of {} at most", self.name, self.most_threads));
        }
        if launch.dynamic_lds != 0 {
            return Err(format!("{}: workgroup memory of a launch is not known here", self.name));
        }
        // Aligned as the structure is.
        let words = arguments.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let arguments = words.collect();
        let blocks = launch.grid.iter().map(|n| u64::from(*n)).product();
        let job = Arc::new(Job {
            name: self.name.clone(),
            entry: self.entry,
            library: Arc::clone(&self.library),
            arguments,
            launch,
            blocks,
            taken: AtomicU64::new(0),
            fault: Mutex::new(None),
        });
        let start = Instant::now();
        pool().run(&job);
        if is_verbose() {
            eprintln!("{}: {blocks} blocks of {threads} threads, {:?}", self.name, start.elapsed());
        }
        lock(&job.fault).take().map_or(Ok(()), Err)
    }
}

/// Texts with up to so many bytes of workgroup memory in all their kernels get NaN before each block, others before each
/// launch.
const SPOILED_EACH: usize = 64 << 10;

/// A launch at work.
struct Job {
    name: String,
    entry: Entry,
    library: Arc<Library>,
    arguments: Vec<u64>,
    launch: Launch,
    blocks: u64,
    /// Blocks that were begun.
    taken: AtomicU64,
    fault: Mutex<Option<String>>,
}

impl Job {
    /// Runs blocks until none is left.
    fn work(&self) {
        thread_local! {
            static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
        }
        WORKER.with_borrow_mut(|worker| {
            if worker.is_none() {
                match Worker::new() {
                    Ok(new) => *worker = Some(new),
                    Err(why) => *lock(&self.fault) = Some(why),
                }
            }
            let Some(worker) = worker else { return };
            let spoils_each = self.library.lds_bytes() <= SPOILED_EACH;
            if !spoils_each {
                self.library.spoil_lds();
            }
            loop {
                let number = self.taken.fetch_add(1, Ordering::Relaxed);
                if number >= self.blocks {
                    return;
                }
                if spoils_each {
                    self.library.spoil_lds();
                }
                if let Err(what) = self.block(worker, number) {
                    self.taken.store(self.blocks, Ordering::Relaxed);
                    lock(&self.fault).get_or_insert(what);
                }
            }
        });
    }

    fn block(&self, worker: &mut Worker, number: u64) -> Result<(), String> {
        let [x, y, _] = self.launch.grid.map(u64::from);
        let at = [number % x, number / x % y, number / x / y].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        let (threads, is_reverse) = (self.launch.threads as usize, is_reverse());
        let block = Block { entry: self.entry, arguments: &self.arguments, at, threads, is_reverse };
        fault::watched(worker, |worker| worker.run(&block))
            .map_err(|what| format!("{}: block {at:?}: {what}", self.name))
    }
}

/// Threads that help with launches of more than one block.
struct Pool {
    helpers: usize,
    /// Held by the launch that is helped with.
    turn: Mutex<()>,
    state: Mutex<State>,
    begun: Condvar,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    job: Option<Arc<Job>>,
    /// Counts the jobs.
    number: u64,
    /// Helpers that are not done with the job.
    busy: usize,
}

impl Pool {
    fn run(&self, job: &Arc<Job>) {
        // To wake a thread costs as much as some hundred fibers.
        let is_worth_it = job.blocks > 1 && job.blocks * u64::from(job.launch.threads) >= 1024;
        let turn = if is_worth_it && self.helpers > 0 { self.turn.try_lock().ok() } else { None };
        let Some(_turn) = turn else { return job.work() };
        {
            let mut state = lock(&self.state);
            state.job = Some(Arc::clone(job));
            state.number += 1;
            state.busy = self.helpers;
        }
        self.begun.notify_all();
        job.work();
        let mut state = lock(&self.state);
        while state.busy > 0 {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.job = None;
    }

    fn help(&self) {
        let mut seen = 0;
        loop {
            let job = {
                let mut state = lock(&self.state);
                while state.number == seen {
                    state = self.begun.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                seen = state.number;
                state.job.clone()
            };
            if let Some(job) = job {
                job.work();
            }
            lock(&self.state).busy -= 1;
            self.ended.notify_one();
        }
    }
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let most = setting("HIP_FIBERS_THREADS").and_then(|most| most.parse().ok()).unwrap_or(all);
        let (turn, state, begun, ended) = Default::default();
        Pool { helpers: most.max(1) - 1, turn, state, begun, ended }
    });
    STARTED.get_or_init(|| {
        for _ in 0..pool.helpers {
            std::thread::spawn(|| pool.help());
        }
    });
    pool
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn is_reverse() -> bool {
    static REVERSE: OnceLock<bool> = OnceLock::new();
    *REVERSE.get_or_init(|| setting("HIP_FIBERS_ORDER").is_some_and(|order| order == "reverse"))
}

fn is_verbose() -> bool {
    static VERBOSE: OnceLock<bool> = OnceLock::new();
    *VERBOSE.get_or_init(|| setting("HIP_FIBERS_VERBOSE").is_some_and(|value| value == "1"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
