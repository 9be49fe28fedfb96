//! The registers of a wave, and which of their bits nobody ever wrote.
//!
//! Undefined values are followed, not forbidden: a compiler may move, select or even compute with a value that no lane will
//! use. Each vector register has a word of doubt for its 32 lanes: bit `l` says that lane `l` is undefined, and bit `32 + l`
//! that it came out of arithmetic on something undefined. Each scalar register has 32 bits of doubt, one for each of its bits,
//! because scalars hold lane masks. Where a doubtful value would decide something (an address, a branch, the execution mask),
//! or where computed nonsense would reach memory, the wave stops.

use crate::fault::FaultKind;
use crate::group::Group;
use crate::op::{EXEC, NULL, Op, Source, VCC};

pub const LANES: usize = 32;
pub type Lanes = [u32; LANES];

/// What an undefined register holds: a number that shows.
const UNDEFINED: u32 = 0xdead_beef;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Running,
    AtBarrier,
    Ended,
    Stopped,
}

pub struct Wave {
    pub vector: Box<[Lanes; 256]>,
    pub vector_doubt: Box<[u64; 256]>,
    pub scalar: [u32; 128],
    pub scalar_doubt: [u32; 128],
    /// SCC, the scalar condition.
    pub condition: bool,
    pub condition_doubt: bool,
    pub counter: usize,
    pub state: State,
    /// Index inside the workgroup.
    pub index: u32,
    /// The lanes that have a thread.
    pub all_lanes: u32,
    pub executed: u64,
    /// Subnormal f32 operands and results become zero.
    pub flushes: bool,
    /// A NaN clamps to zero (`DX10_CLAMP`).
    pub clamps_nan: bool,
    /// Private memory: `bytes` for each lane after the other.
    pub scratch: Vec<u8>,
    pub scratch_doubt: Vec<bool>,
}

impl Default for Wave {
    fn default() -> Wave {
        Wave {
            vector: Box::new([[UNDEFINED; LANES]; 256]),
            vector_doubt: Box::new([!0; 256]),
            scalar: [0; 128],
            scalar_doubt: [!0; 128],
            condition: false,
            condition_doubt: true,
            counter: 0,
            state: State::Running,
            index: 0,
            all_lanes: !0,
            executed: 0,
            flushes: false,
            clamps_nan: true,
            scratch: Vec::new(),
            scratch_doubt: Vec::new(),
        }
    }
}

impl Wave {
    /// As at the start of a kernel: nothing defined but the execution mask.
    pub fn reset(
        &mut self,
        entry: usize,
        index: u32,
        all_lanes: u32,
        (vectors, scratch_bytes): (usize, usize),
    ) {
        self.all_lanes = all_lanes;
        self.vector[..vectors].fill([UNDEFINED; LANES]);
        self.vector_doubt.fill(!0);
        self.scalar = [UNDEFINED; 128];
        self.scalar_doubt = [!0; 128];
        for (register, value) in [(EXEC, all_lanes), (EXEC + 1, 0), (NULL, 0)] {
            self.scalar[usize::from(register)] = value;
            self.scalar_doubt[usize::from(register)] = 0;
        }
        self.condition = false;
        self.condition_doubt = true;
        self.counter = entry;
        self.state = State::Running;
        self.index = index;
        self.scratch.clear();
        self.scratch.resize(scratch_bytes * LANES, 0xcd);
        self.scratch_doubt.clear();
        self.scratch_doubt.resize(scratch_bytes * LANES, true);
    }

    #[inline(always)]
    pub fn exec(&self) -> u32 {
        self.scalar[EXEC as usize]
    }

    #[inline(always)]
    pub fn vcc(&self) -> u32 {
        self.scalar[VCC as usize]
    }

    /// The lowest lane that is not masked off; lane 0 when all are, as the hardware has it.
    #[inline(always)]
    pub fn first_lane(&self) -> usize {
        let exec = self.exec();
        if exec == 0 { 0 } else { exec.trailing_zeros() as usize }
    }

    // ---- vector registers

    /// The lanes that may be written: those not masked off and, with a permutation, those with a valid source.
    #[inline(always)]
    pub fn writable(&self, op: &Op) -> u32 {
        match &op.permutation {
            None => self.exec(),
            Some(permutation) => self.writable_permuted(permutation),
        }
    }

    #[cold]
    fn writable_permuted(&self, permutation: &crate::op::Permutation) -> u32 {
        let exec = self.exec();
        let enabled = exec & permutation.enabled;
        if permutation.zero { enabled } else { enabled & self.valid(permutation) }
    }

    fn valid(&self, permutation: &crate::op::Permutation) -> u32 {
        if permutation.inactive || self.exec() == !0 {
            return permutation.inside;
        }
        let exec = self.exec();
        let active = permutation.from.iter().enumerate();
        let active = active.fold(0, |mask, (lane, from)| mask | (exec >> from & 1) << lane);
        permutation.inside & active
    }

    /// Source `k`, 32 bits a lane, before modifiers.
    #[inline(always)]
    pub fn words(&self, op: &Op, k: usize) -> Lanes {
        let words = self.lanes_of(op.from[k], 0);
        match &op.permutation {
            Some(permutation) if k == 0 => self.permuted(permutation, &words),
            _ => words,
        }
    }

    /// Word `word` of a source.
    #[inline(always)]
    pub fn lanes_of(&self, source: Source, word: u8) -> Lanes {
        match source {
            Source::Vector(register) => self.vector[register.wrapping_add(word) as usize],
            Source::Scalar(register) => [self.scalar[((register + word) & 127) as usize]; LANES],
            Source::Constant(bits) => [(bits >> (32 * u32::from(word))) as u32; LANES],
            Source::Absent => [0; LANES],
        }
    }

    #[inline(never)]
    fn permuted(&self, permutation: &crate::op::Permutation, words: &Lanes) -> Lanes {
        let mut moved = [0; LANES];
        for (slot, from) in moved.iter_mut().zip(&permutation.from) {
            *slot = words[usize::from(from & 31)];
        }
        let valid = self.valid(permutation);
        if valid != !0 {
            for (lane, slot) in moved.iter_mut().enumerate() {
                *slot = if valid >> lane & 1 == 1 { *slot } else { 0 };
            }
        }
        moved
    }

    /// The doubt of word `word` of source `k`.
    #[inline(always)]
    pub fn doubt(&self, op: &Op, k: usize, word: u8) -> u64 {
        let doubt = self.doubt_of(op.from[k], word);
        match &op.permutation {
            Some(permutation) if k == 0 && doubt != 0 => self.permuted_doubt(permutation, doubt),
            _ => doubt,
        }
    }

    #[inline(always)]
    pub fn doubt_of(&self, source: Source, word: u8) -> u64 {
        match source {
            Source::Vector(register) => self.vector_doubt[register.wrapping_add(word) as usize],
            Source::Scalar(register) => {
                let doubt = self.scalar_doubt[((register + word) & 127) as usize];
                if doubt == 0 { 0 } else { !0 }
            }
            Source::Constant(_) | Source::Absent => 0,
        }
    }

    #[cold]
    fn permuted_doubt(&self, permutation: &crate::op::Permutation, doubt: u64) -> u64 {
        let valid = self.valid(permutation);
        let lanes = permutation.from.iter().enumerate().filter(|(lane, _)| valid >> lane & 1 == 1);
        lanes.fold(0, |moved, (lane, from)| {
            moved | (doubt >> from & 1) << lane | (doubt >> (32 + from) & 1) << (32 + lane)
        })
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub fn put(&mut self, register: u8, words: &Lanes, doubt: u64, mask: u32) {
        let slot = &mut self.vector[register as usize];
        if mask == !0 {
            *slot = *words;
            self.vector_doubt[register as usize] = doubt;
        } else {
            for lane in 0..LANES {
                slot[lane] = if mask >> lane & 1 == 1 { words[lane] } else { slot[lane] };
            }
            let mask = both(mask);
            let old = &mut self.vector_doubt[register as usize];
            *old = *old & !mask | doubt & mask;
        }
    }

    // ---- scalar registers

    #[inline(always)]
    pub fn scalar_of(&self, source: Source) -> (u32, u32) {
        match source {
            Source::Scalar(register) => {
                let at = (register & 127) as usize;
                (self.scalar[at], self.scalar_doubt[at])
            }
            Source::Constant(bits) => (bits as u32, 0),
            Source::Vector(_) | Source::Absent => (0, 0),
        }
    }

    #[inline(always)]
    pub fn scalar_pair_of(&self, source: Source) -> (u64, u64) {
        match source {
            Source::Scalar(NULL) => (0, 0),
            Source::Scalar(register) => {
                let (low, high) = ((register & 127) as usize, (register as usize + 1) & 127);
                (
                    join(self.scalar[low], self.scalar[high]),
                    join(self.scalar_doubt[low], self.scalar_doubt[high]),
                )
            }
            Source::Constant(bits) => (bits, 0),
            Source::Vector(_) | Source::Absent => (0, 0),
        }
    }

    /// Writes a scalar register. Writing a doubtful execution mask stops the wave.
    #[inline(always)]
    pub fn put_scalar(&mut self, group: &mut Group<'_>, op: &Op, register: u8, value: u32, doubt: u32) {
        if register == NULL {
            return;
        }
        self.scalar[(register & 127) as usize] = value;
        self.scalar_doubt[(register & 127) as usize] = doubt;
        if register == EXEC && doubt != 0 {
            group.stop(self, op, FaultKind::Undefined { used: "the execution mask" });
        }
    }

    #[inline(always)]
    pub fn put_scalar_pair(&mut self, group: &mut Group<'_>, op: &Op, register: u8, value: u64, doubt: u64) {
        if register != NULL {
            self.put_scalar(group, op, register, value as u32, doubt as u32);
            self.put_scalar(group, op, register + 1, (value >> 32) as u32, (doubt >> 32) as u32);
        }
    }
}

pub fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// A lane mask for both halves of a word of doubt.
#[inline(always)]
pub fn both(mask: u32) -> u64 {
    join(mask, mask)
}

/// The doubt of a result of arithmetic: whatever was undefined is now computed nonsense.
#[inline(always)]
pub fn computed(doubt: u64) -> u64 {
    both(doubt as u32 | (doubt >> 32) as u32)
}
