//! What the waves of one workgroup share, and where faults are kept.

use crate::fault::FaultKind;
use crate::memory::allocation::Allocation;
use crate::memory::lds::Lds;
use crate::memory::map::Map;
use crate::memory::races::Watch;
use crate::op::Op;
use crate::options::Options;
use crate::wave::{State, Wave};

pub struct Group<'a> {
    pub lds: Lds,
    pub memory: &'a Map,
    /// The arguments of the launch, which kernels read like device memory.
    pub arguments: &'a Allocation,
    pub options: &'a Options,
    /// `None` when races between workgroups are not looked for.
    pub watch: Option<Watch<'a>>,
    /// Where the code object lies in memory, for addresses of code and constants.
    pub code_start: u64,
    /// Index of the operation at each word of the code, `u32::MAX` where none starts.
    pub code_index: &'a [u32],
    /// First address that `code_index` covers.
    pub code_first: u64,
    /// Index of the allocation that was used last.
    pub last: usize,
    pub fault: Option<(FaultKind, u32)>,
}

impl Group<'_> {
    /// Ends the wave with a fault. The first one counts.
    #[cold]
    pub fn stop(&mut self, wave: &mut Wave, op: &Op, kind: FaultKind) {
        wave.state = State::Stopped;
        self.fault.get_or_insert((kind, op.line));
    }

    /// Remembers which allocation an access is in; `false` when it is in none.
    #[inline(always)]
    pub fn locate(&mut self, address: u64, bytes: u64) -> bool {
        if self.memory.live(self.last).is_some_and(|live| live.contains(address, bytes)) {
            return true;
        }
        self.locate_anew(address, bytes)
    }

    #[inline(never)]
    fn locate_anew(&mut self, address: u64, bytes: u64) -> bool {
        if self.arguments.contains(address, bytes) {
            self.last = usize::MAX;
            return true;
        }
        let Some(index) = self.memory.index_of(address) else { return false };
        let found = self.memory.live(index).is_some_and(|live| live.contains(address, bytes));
        if found {
            self.last = index;
        }
        found
    }

    /// The allocation of the last successful [`Self::locate`].
    #[inline(always)]
    pub fn located(&self) -> &Allocation {
        self.memory.live(self.last).unwrap_or(self.arguments)
    }
}
