//! One block of a launch on one CPU thread.

use crate::fiber::{hip_fibers_switch, prepare};
use crate::schedule::{LANES, Next, Schedule, Stop};
use crate::stacks::{MOST_THREADS, Mapping, STACK, Stacks};
use std::ffi::c_void;

/// A kernel takes a pointer to its arguments.
pub(crate) type Entry = unsafe extern "C" fn(*const c_void);

/// A GPU thread as the kernels' text knows it: `pk_thread` there. It lies at the end of its stack.
#[repr(C, align(64))]
pub(crate) struct Thread {
    number: i32,
    block: [i32; 3],
    parity: i32,
    unused: i32,
    /// Where lanes of the wave hand over to each other.
    exchange: *mut u8,
    /// Where the stack was left.
    stack: *mut c_void,
    worker: *mut Worker,
}

/// Room in which the lanes of a wave hand over to each other; texts say how much they use.
pub(crate) const EXCHANGE: usize = 1 << 16;

/// What runs blocks: one a CPU thread. A lane that ends without having stopped leaves its stack to the next, so that kernels
/// without barriers and cross-lane operations do with one stack.
pub(crate) struct Worker {
    stacks: Stacks,
    exchange: Mapping,
    /// Stacks on which a lane may start.
    idle: Vec<*mut Thread>,
    /// Threads that have stopped.
    stopped: Vec<*mut Thread>,
    schedule: Schedule,
    entry: Option<Entry>,
    arguments: *const c_void,
    block: [i32; 3],
    /// Where the worker's own stack was left.
    host: *mut c_void,
    present: *mut Thread,
    fault: Option<String>,
}

/// A block to run.
pub(crate) struct Block<'a> {
    pub entry: Entry,
    pub arguments: &'a [u64],
    pub at: [u32; 3],
    pub threads: usize,
    pub is_reverse: bool,
}

impl Worker {
    /// A worker that stays where it is: its threads point to it.
    pub(crate) fn new() -> Result<Box<Self>, String> {
        let mut worker = Box::new(Worker {
            stacks: Stacks::new()?,
            exchange: Mapping::new(MOST_THREADS / LANES * EXCHANGE)?,
            idle: Vec::with_capacity(MOST_THREADS),
            stopped: vec![std::ptr::null_mut(); MOST_THREADS],
            schedule: Schedule::new(LANES, false),
            entry: None,
            arguments: std::ptr::null(),
            block: [0; 3],
            host: std::ptr::null_mut(),
            present: std::ptr::null_mut(),
            fault: None,
        });
        worker.renew();
        Ok(worker)
    }

    /// Makes all stacks new.
    fn renew(&mut self) {
        /// Tops of stacks would all fall into the same lines of the cache.
        const STAGGER: usize = 320; // a multiple of 64
        self.stopped.fill(std::ptr::null_mut());
        self.idle.clear();
        for k in (0..MOST_THREADS).rev() {
            let thread = self.stacks.top(k).wrapping_sub(size_of::<Thread>()).cast::<Thread>();
            let top = thread.cast::<u8>().wrapping_sub(k % 48 * STAGGER);
            // SAFETY: both lie within the stack, which no fiber uses now.
            unsafe {
                let (number, block, parity, unused) = (0, [0; 3], 0, 0);
                let (exchange, worker) = (std::ptr::null_mut(), &raw mut *self);
                let stack = prepare(top, run_threads, thread);
                thread.write(Thread { number, block, parity, unused, exchange, stack, worker });
            }
            self.idle.push(thread);
        }
    }

    /// Runs a block; gives what a thread did wrong.
    pub(crate) fn run(&mut self, block: &Block<'_>) -> Result<(), String> {
        self.schedule = Schedule::new(block.threads, block.is_reverse);
        (self.entry, self.arguments) = (Some(block.entry), block.arguments.as_ptr().cast());
        self.block = block.at.map(|at| at.cast_signed());
        let this = &raw mut *self;
        // SAFETY: threads of the block reach the worker by pointers only while this call waits for them.
        unsafe {
            let first = next_thread(&mut *this);
            if !first.is_null() {
                switch(this, &raw mut (*this).host, (*first).stack, first);
            }
        }
        match self.fault.take() {
            None => Ok(()),
            Some(fault) => {
                self.stacks.forget_frames();
                self.renew();
                Err(fault)
            }
        }
    }

    /// The number of the thread that runs, for reports.
    pub(crate) fn present(&self) -> i32 {
        // SAFETY: threads live as long as the worker.
        unsafe { self.present.as_ref() }.map_or(-1, |thread| thread.number)
    }

    /// Gives the block up from within a thread of it.
    ///
    /// # Safety
    /// Called on a stack of this worker, to which nothing returns.
    pub(crate) unsafe fn abandon(&mut self, fault: String) -> ! {
        self.fault = Some(fault);
        let mut left = std::ptr::null_mut();
        // SAFETY: the host's stack was left by `run`.
        unsafe { switch(&raw mut *self, &raw mut left, self.host, std::ptr::null_mut()) };
        std::process::abort()
    }

    /// Whether an address lies on one of its stacks.
    pub(crate) fn owns(&self, stack_address: usize) -> bool {
        let (low, high) = (self.stacks.top(0) as usize - STACK, self.stacks.top(MOST_THREADS - 1) as usize);
        (low..high).contains(&stack_address)
    }
}

/// Goes on with `thread`, or with the worker itself.
unsafe fn switch(worker: *mut Worker, save: *mut *mut c_void, to: *mut c_void, thread: *mut Thread) {
    // SAFETY: the worker is alive; `to` was left by a switch or made by `prepare`.
    unsafe {
        (*worker).present = thread;
        hip_fibers_switch(save, to);
    }
}

/// The thread whose turn it is, on its own stack or on one that is idle; null if the block is over.
fn next_thread(this: &mut Worker) -> *mut Thread {
    let number = match this.schedule.next() {
        Next::Thread(number) => number,
        Next::Ended => return std::ptr::null_mut(),
        Next::Fault(what) => {
            this.fault = Some(what);
            return std::ptr::null_mut();
        }
    };
    let stopped = std::mem::replace(&mut this.stopped[number], std::ptr::null_mut());
    if !stopped.is_null() {
        return stopped;
    }
    // There are as many stacks as threads.
    let Some(thread) = this.idle.pop() else { return std::ptr::null_mut() };
    // SAFETY: the thread's place is at the end of an idle stack.
    unsafe {
        (*thread).number = i32::try_from(number).unwrap_or(i32::MAX);
        (*thread).block = this.block;
        (*thread).parity = 0;
        (*thread).exchange = this.exchange.start().wrapping_add(number / LANES * EXCHANGE);
    }
    thread
}

/// What runs on each stack: a thread to its end, then another that starts.
unsafe extern "C" fn run_threads(thread: *mut Thread) -> ! {
    loop {
        // SAFETY: the worker is alive while its block runs; only one of its threads does, and nothing else reaches it meanwhile.
        // The arguments are what the launch gave.
        unsafe {
            let worker = (*thread).worker;
            let (entry, arguments) = ((*worker).entry, (*worker).arguments);
            if let Some(entry) = entry {
                entry(arguments);
            }
            let this = &mut *worker;
            this.schedule.stopped(Stop::Ended, 0);
            // Taken again at once if the next thread starts.
            this.idle.push(thread);
            let next = next_thread(this);
            if next == thread {
                this.present = thread;
                continue;
            }
            let to = if next.is_null() { this.host } else { (*next).stack };
            switch(worker, &raw mut (*thread).stack, to, next);
        }
    }
}

/// Kernels come here at barriers and cross-lane operations: `pk_stop` of their text.
///
/// # Safety
/// `thread` is the one that runs.
pub(crate) unsafe extern "C" fn stop(thread: *mut Thread, kind: u32, line: u32) {
    // SAFETY: as the caller promises; the worker is alive while its block runs, and nothing else reaches it meanwhile.
    unsafe {
        let (worker, number) = ((*thread).worker, (*thread).number);
        let this = &mut *worker;
        let kind = if kind == Stop::Barrier as u32 { Stop::Barrier } else { Stop::Wave };
        this.schedule.stopped(kind, line);
        this.stopped[number.unsigned_abs() as usize] = thread;
        let next = next_thread(this);
        if next != thread {
            let to = if next.is_null() { this.host } else { (*next).stack };
            switch(worker, &raw mut (*thread).stack, to, next);
        }
    }
}
