//! Times of launches by the processor's clock: each worker notes when it begins and ends its share.

use std::sync::Arc;
use std::time::Duration;
use weft_core::backend::Ticket;
use weft_core::profile::{Launch, Profile, Timed};

/// Times a program's launches.
pub(crate) struct Clock {
    program: Arc<Timed>,
    profile: Arc<Profile>,
}

impl Clock {
    pub(crate) fn new(program: Arc<Timed>, profile: Arc<Profile>) -> Self {
        Clock { program, profile }
    }

    /// One worker's watch for one submission. Its times are kept when it is dropped.
    pub(crate) fn watch(&self, ticket: Ticket, worker: usize) -> Watch<'_> {
        Watch { clock: self, ticket, worker, launches: Vec::with_capacity(self.program.labels.len()) }
    }
}

/// Times of one worker.
pub(crate) struct Watch<'c> {
    clock: &'c Clock,
    ticket: Ticket,
    worker: usize,
    launches: Vec<Launch>,
}

impl Watch<'_> {
    pub(crate) fn now(&self) -> Duration {
        self.clock.profile.now()
    }

    /// A worker's share of a launch has ended.
    pub(crate) fn ended(&mut self, launch: usize, start: Duration) {
        let time = self.now().saturating_sub(start);
        let program = Arc::clone(&self.clock.program);
        self.launches.push(Launch { program, launch, run: self.ticket.0, lane: self.worker, start, time });
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.clock.profile.launched(self.launches.drain(..));
    }
}
