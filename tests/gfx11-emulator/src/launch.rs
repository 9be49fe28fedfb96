//! Runs the workgroups of a launch, on all threads, each wave until it ends or waits at a barrier.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use crate::arguments::segment;
use crate::decode::Program;
use crate::fault::{Fault, FaultKind};
use crate::group::Group;
use crate::memory::allocation::Allocation;
use crate::memory::lds::Lds;
use crate::memory::map::Map;
use crate::memory::races::{Contact, Tags, Watch};
use crate::object_file::Kernel;
use crate::op::Op;
use crate::options::Options;
use crate::wave::{LANES, State, Wave};

const LDS_LIMIT: usize = 64 << 10;
const THREAD_LIMIT: u32 = 1024;
/// Far from device memory and from the host's.
const ARGUMENTS_AT: u64 = 0x1000_0000_0000;

/// Sizes of a launch: workgroups, threads of each, and LDS beyond what the kernel declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_lds: usize,
}

impl Launch {
    pub fn new(grid: [u32; 3], threads: u32) -> Launch {
        Launch { grid, block: [threads, 1, 1], dynamic_lds: 0 }
    }

    pub fn threads(&self) -> u32 {
        self.block.iter().fold(1u32, |threads, size| threads.saturating_mul(*size))
    }

    pub fn groups(&self) -> u32 {
        self.grid.iter().fold(1u32, |groups, size| groups.saturating_mul(*size))
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    pub wave_instructions: u64,
}

/// All that the workgroups of a launch share.
struct Shared<'a> {
    kernel: &'a Kernel,
    program: &'a Program,
    code_start: u64,
    launch: &'a Launch,
    lds_bytes: usize,
    arguments: &'a Allocation,
    packet_at: u64,
    memory: &'a Map,
    options: &'a Options,
    tags: Option<Tags>,
    contact: Contact,
    next: AtomicU32,
    executed: AtomicU64,
    is_stopped: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

/// Waves and LDS that a thread uses again.
#[derive(Default)]
struct Workspace {
    waves: Vec<Wave>,
    lds: Lds,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Runs a kernel whose code lies at `code_start`.
///
/// # Errors
/// The first fault.
pub fn run(
    kernel: &Kernel,
    (program, code_start): (&Program, u64),
    launch: &Launch,
    arguments: &[u8],
    memory: &Map,
    options: &Options,
) -> Result<Ran, Fault> {
    let lds_bytes = kernel.about.lds_bytes + launch.dynamic_lds;
    check(kernel, launch, lds_bytes)?;
    let start = Instant::now();
    let (bytes, packet_at) = segment(&kernel.about, launch, arguments);
    let mut held = Allocation::new(ARGUMENTS_AT, bytes.len() as u64);
    held.write(0, &bytes);
    held.is_read_only = true;
    let groups = launch.groups();
    let shared = Shared {
        kernel,
        program,
        code_start,
        launch,
        lds_bytes,
        arguments: &held,
        packet_at: ARGUMENTS_AT + packet_at as u64,
        memory,
        options,
        tags: (options.global_races && groups > 1).then(|| Tags::take(groups)).flatten(),
        contact: Contact::default(),
        next: AtomicU32::new(0),
        executed: AtomicU64::new(0),
        is_stopped: AtomicBool::new(false),
        fault: Mutex::new(None),
    };
    shared.run_all(groups);
    let executed = shared.executed.into_inner();
    if options.statistics {
        let (name, nanoseconds) = (&kernel.name, start.elapsed().as_nanos() as f64);
        let each = nanoseconds / executed as f64;
        eprintln!("gfx11 emulator: {name}: {groups} workgroups, {executed} instructions, {each:.1} ns each");
    }
    match shared.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(Ran { wave_instructions: executed }),
        Some(fault) => Err(fault),
    }
}

fn check(kernel: &Kernel, launch: &Launch, lds_bytes: usize) -> Result<(), Fault> {
    let limit = |what, asked: usize, granted: usize| {
        let kind = FaultKind::Limit { what, asked, granted };
        let at = None;
        (asked > granted).then(|| Fault { kernel: kernel.name.clone(), kind, at, workgroup: [0; 3], wave: 0 })
    };
    let threads = launch.threads();
    let zeros = launch.grid.iter().chain(&launch.block).filter(|size| **size == 0).count();
    let built_for = kernel.about.max_threads.min(THREAD_LIMIT as usize);
    let found = limit("threads of a block that the kernel was built for", threads as usize, built_for)
        .or_else(|| limit("bytes of LDS", lds_bytes, LDS_LIMIT))
        .or_else(|| limit("sizes of the launch that are zero", zeros, 0));
    found.map_or(Ok(()), Err)
}

impl Shared<'_> {
    fn run_all(&self, groups: u32) {
        static POOL: LazyLock<Option<rayon::ThreadPool>> = LazyLock::new(|| {
            rayon::ThreadPoolBuilder::new().num_threads(Options::get().threads).build().ok()
        });
        let workers = (self.options.threads as u32).min(groups);
        match &*POOL {
            Some(pool) if workers > 1 => pool.scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|_| self.work(groups));
                }
            }),
            _ => self.work(groups),
        }
    }

    /// Takes workgroups until there are none.
    fn work(&self, groups: u32) {
        let mut space = WORKSPACE.with(|space| std::mem::take(&mut *space.borrow_mut()));
        while !self.is_stopped.load(Relaxed) {
            let taken = self.next.fetch_add(1, Relaxed);
            if taken >= groups {
                break;
            }
            let group = if self.options.reverse { groups - 1 - taken } else { taken };
            if let Err(fault) = self.run_group(group, &mut space) {
                self.is_stopped.store(true, Relaxed);
                self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
            }
        }
        WORKSPACE.with(|slot| *slot.borrow_mut() = space);
    }

    fn run_group(&self, index: u32, space: &mut Workspace) -> Result<(), Fault> {
        let [x, y, _] = self.launch.grid;
        let at = [index % x, index / x % y, index / x / y];
        let mut lds = std::mem::take(&mut space.lds);
        lds.reset(self.lds_bytes, self.options.lds_races);
        let mut group = Group {
            lds,
            memory: self.memory,
            arguments: self.arguments,
            options: self.options,
            watch: self.tags.map(|tags| Watch {
                tags,
                group: index,
                known: HashSet::new(),
                contact: &self.contact,
            }),
            code_start: self.code_start,
            code_index: &self.program.index,
            code_first: self.program.first,
            last: 0,
            fault: None,
        };
        let waves = self.launch.threads().div_ceil(LANES as u32) as usize;
        space.waves.resize_with(space.waves.len().max(waves), Wave::default);
        let waves = &mut space.waves[..waves];
        for (number, wave) in waves.iter_mut().enumerate() {
            self.start(wave, number as u32, at);
        }
        let result = self.run_waves(waves, &mut group);
        self.executed.fetch_add(waves.iter().map(|wave| wave.executed).sum(), Relaxed);
        space.lds = group.lds;
        result.map_err(|(wave, kind, line)| Fault {
            kernel: self.kernel.name.clone(),
            kind,
            at: line.map(|line| {
                let line = &self.program.lines[line as usize];
                (line.address, line.text.clone())
            }),
            workgroup: at,
            wave,
        })
    }

    /// Registers as the hardware fills them.
    fn start(&self, wave: &mut Wave, number: u32, at: [u32; 3]) {
        let (about, descriptor) = (&self.kernel.about, &self.kernel.descriptor);
        let entry = self.program.at(descriptor.entry).unwrap_or(usize::MAX);
        let threads = self.launch.threads() - number * LANES as u32;
        let all_lanes = if threads >= 32 { !0 } else { (1 << threads) - 1 };
        // A register more than the count: pairs of registers may be read together.
        wave.reset(entry, number, all_lanes, ((about.vectors + 1).min(256), about.scratch_bytes));
        wave.executed = 0;
        wave.flushes = descriptor.flushes;
        wave.clamps_nan = descriptor.clamps_nan;
        let mut set = |register: usize, value: u32| {
            wave.scalar[register & 127] = value;
            wave.scalar_doubt[register & 127] = 0;
        };
        let addresses =
            [(descriptor.argument_scalar, ARGUMENTS_AT), (descriptor.dispatch_scalar, self.packet_at)];
        for (register, address) in addresses {
            if let Some(register) = register.map(usize::from) {
                set(register, address as u32);
                set(register + 1, (address >> 32) as u32);
            }
        }
        let wanted = at.iter().zip(descriptor.ids).filter(|(_, wanted)| *wanted);
        for (slot, (id, _)) in wanted.enumerate() {
            set(usize::from(descriptor.user_scalars) + slot, *id);
        }
        let [x, y, _] = self.launch.block;
        wave.vector[0] = std::array::from_fn(|lane| {
            let thread = number * LANES as u32 + lane as u32;
            (thread % x) | ((thread / x % y) << 10) | ((thread / x / y) << 20)
        });
        wave.vector_doubt[0] = 0;
    }

    fn run_waves(
        &self,
        waves: &mut [Wave],
        group: &mut Group<'_>,
    ) -> Result<(), (u32, FaultKind, Option<u32>)> {
        let count = waves.len();
        loop {
            for k in 0..count {
                let wave = &mut waves[if self.options.reverse { count - 1 - k } else { k }];
                if wave.state == State::Ended {
                    continue;
                }
                self.run_wave(wave, group);
                if let Some((kind, line)) = group.fault.take() {
                    return Err((wave.index, kind, Some(line)));
                }
                if wave.state == State::Stopped {
                    return Err((wave.index, FaultKind::Endless { steps: wave.executed }, None));
                }
            }
            let ended = waves.iter().filter(|wave| wave.state == State::Ended).count();
            if ended == count {
                return Ok(());
            }
            if let Some(left) = waves.iter().find(|wave| wave.state != State::Ended).filter(|_| ended > 0) {
                let line = self.program.ops.get(left.counter.saturating_sub(1)).map(|op| op.line);
                return Err((left.index, FaultKind::BarrierLeft { ended, waves: count }, line));
            }
            group.lds.next_interval();
        }
    }

    fn run_wave(&self, wave: &mut Wave, group: &mut Group<'_>) {
        let ops: &[Op] = &self.program.ops;
        wave.state = State::Running;
        while wave.state == State::Running {
            let Some(op) = ops.get(wave.counter) else {
                wave.state = State::Stopped;
                return;
            };
            wave.counter += 1;
            wave.executed += 1;
            if wave.executed == self.options.steps {
                wave.state = State::Stopped;
                return;
            }
            // SAFETY: the decoder chose the version of the function that this host runs.
            unsafe { (op.run)(wave, group, op) };
        }
    }
}
