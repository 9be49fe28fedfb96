//! A team of threads that walks a program together.
//!
//! One rayon task per thread runs the whole program; between phases they meet at a spinning barrier, which costs a
//! fraction of a microsecond where waking a sleeping thread costs several.

use crate::job::Worker;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use weft_core::backend::DeviceError;

/// Threads with their workers. One program runs at a time.
pub(crate) struct Team {
    pool: Option<rayon::ThreadPool>,
    workers: Mutex<Vec<Worker>>,
    count: usize,
}

impl Team {
    pub(crate) fn new(count: usize) -> Result<Self, DeviceError> {
        let count = count.max(1);
        let unavailable = |e: rayon::ThreadPoolBuildError| DeviceError::Unavailable {
            name: "cpu".to_owned(),
            reason: format!("{count} threads could not be started: {e}"),
        };
        // The caller is the first worker.
        let build = |n: usize| {
            rayon::ThreadPoolBuilder::new().num_threads(n).thread_name(|i| format!("weft-{}", i + 1)).build()
        };
        let pool = if count > 1 { Some(build(count - 1).map_err(unavailable)?) } else { None };
        let workers = (0..count).map(|index| Worker { index, count, ..Worker::default() }).collect();
        Ok(Team { pool, workers: Mutex::new(workers), count })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Runs `work` once on every worker at the same time and waits for all. `work` must pass each barrier equally often
    /// on every worker and must not panic between barriers.
    pub(crate) fn run(&self, work: &(dyn Fn(&mut Worker, &Barrier) + Sync)) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let barrier = Barrier { count: self.count, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) };
        let Some((first, others)) = workers.split_first_mut() else { return };
        match &self.pool {
            None => work(first, &barrier),
            Some(pool) => pool.in_place_scope(|scope| {
                for worker in others {
                    let barrier = &barrier;
                    scope.spawn(move |_| work(worker, barrier));
                }
                work(first, &barrier);
            }),
        }
    }
}

/// A spinning barrier.
pub(crate) struct Barrier {
    count: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    /// Returns when every worker has arrived.
    pub(crate) fn wait(&self) {
        if self.count == 1 {
            return;
        }
        let round = self.round.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0u32;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            // Some microseconds of spinning cover an even share; after that the worker that is waited for may have no
            // processor, and must not be starved of this one.
            if spins > 4_000 {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
